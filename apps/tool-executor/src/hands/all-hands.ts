import { type ExecutorTool, type ToolDefinition, tools } from '@rondo/domain';
import { createFile, deleteFile, fullFileRewrite, listFiles, readFile, strReplace } from './file.hands';
import type { Hand, InputOf } from './hand';
import { httpRequest } from './http.hands';
import { checkCommandOutput, executeCommand, listCommands, terminateCommand } from './shell.hands';

/** A tool in the catalog without a hand here does not compile. */
const hands = {
  execute_command: executeCommand,
  check_command_output: checkCommandOutput,
  terminate_command: terminateCommand,
  list_commands: listCommands,
  create_file: createFile,
  read_file: readFile,
  str_replace: strReplace,
  full_file_rewrite: fullFileRewrite,
  delete_file: deleteFile,
  list_files: listFiles,
  http_request: httpRequest,
} satisfies { [Name in ExecutorTool['name']]: Hand<InputOf<Name>> };

export interface ReadyTool {
  readonly tool: ToolDefinition;
  /** Takes what the tool's own schema has parsed. */
  readonly hand: Hand<unknown>;
}

const byName = new Map<string, ReadyTool>(
  tools.filter((tool) => tool.runsIn === 'executor').map((tool) => [tool.name, { tool, hand: hands[tool.name] }]), // `satisfies` has paired them
);

export const readyToolNamed = (name: string): ReadyTool | undefined => byName.get(name);

export const readyToolNames: readonly string[] = [...byName.keys()];
