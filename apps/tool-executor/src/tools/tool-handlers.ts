import { type ExecutorTool, type ToolDefinition, tools } from '@rondo/domain';
import { createFile, deleteFile, fullFileRewrite, listFiles, readFile, strReplace } from './file.handlers';
import type { ToolHandler, InputOf } from './tool-handler';
import { httpRequest } from './http.handlers';
import { checkCommandOutput, executeCommand, listCommands, terminateCommand } from './shell.handlers';

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
} satisfies { [Name in ExecutorTool['name']]: ToolHandler<InputOf<Name>> };

export interface HandledTool {
  readonly tool: ToolDefinition;
  /** Takes what the tool's own schema has parsed. */
  readonly hand: ToolHandler<unknown>;
}

const byName = new Map<string, HandledTool>(
  tools.filter((tool) => tool.runsIn === 'executor').map((tool) => [tool.name, { tool, hand: hands[tool.name] }]), // `satisfies` has paired them
);

export const handledToolNamed = (name: string): HandledTool | undefined => byName.get(name);

export const handledToolNames: readonly string[] = [...byName.keys()];
