import { type ExecutorTool, type ToolDefinition, targetArguments, implementedTools, toolAliases } from '@rondo/domain';
import {
  createFile,
  deleteFile,
  fullFileRewrite,
  listFiles,
  readFile,
  strReplace,
  writeFile,
  createDirectory,
} from './files/file.handlers';
import { searchFiles } from './files/search.handlers';
import { strReplaceEditor } from './files/str-replace-editor';
import { browserHandlers } from './browser/browser.handlers';
import { httpRequest } from './http/http.handlers';
import { shellExec, shellWriteToProcess } from './shell/dialogue.handlers';
import { exposePort } from './ports/port.handlers';
import { deploy, undeploy } from './deploy/deploy.handlers';
import { executeDataProviderCall, getDataProviderEndpoints } from './data-providers/data-provider.handlers';
import { textExtract } from './documents/text-extract.handlers';
import { transcribe } from './sound/transcribe.handlers';
import { seeImage } from './images/see-image.handlers';
import { runProgram } from './programs/run-program';
import { checkCommandOutput, executeCommand, listCommands, terminateCommand } from './shell/shell.handlers';
import type { ToolInput, ToolHandler } from './tool-handler';
import { scrapeWebpage } from './web/scrape-webpage.handlers';
import { visitWebpage } from './web/visit-webpage.handlers';
import { webSearch } from './web/web-search.handlers';

/** A tool of the catalog without a handler here does not compile. */
const handlers = {
  execute_command: executeCommand,
  check_command_output: checkCommandOutput,
  terminate_command: terminateCommand,
  list_commands: listCommands,
  shell_exec: shellExec,
  shell_write_to_process: shellWriteToProcess,
  run_program: runProgram,
  create_file: createFile,
  read_file: readFile,
  str_replace: strReplace,
  full_file_rewrite: fullFileRewrite,
  delete_file: deleteFile,
  list_files: listFiles,
  write_file: writeFile,
  create_directory: createDirectory,
  search_files: searchFiles,
  str_replace_editor: strReplaceEditor,
  see_image: seeImage,
  text_extract: textExtract,
  transcribe,
  http_request: httpRequest,
  expose_port: exposePort,
  deploy,
  undeploy,
  web_search: webSearch,
  visit_webpage: visitWebpage,
  scrape_webpage: scrapeWebpage,
  get_data_provider_endpoints: getDataProviderEndpoints,
  execute_data_provider_call: executeDataProviderCall,
  ...browserHandlers,
} satisfies { [Name in ExecutorTool['name']]: ToolHandler<ToolInput<Name>> };

export interface HandledTool {
  readonly tool: ToolDefinition;
  /** Takes the input that the tool's own schema has parsed. */
  readonly handler: ToolHandler<unknown>;
}

const targets = new Map<string, HandledTool>(
  implementedTools
    .filter((tool) => tool.runsIn === 'executor')
    .map((tool) => [tool.name, { tool, handler: handlers[tool.name] }]), // `satisfies` has paired them
);

const byName = new Map([...targets, ...toolAliases.flatMap(handleAlias)]);

/** The target's handler, which gets what the target's own schema makes of the alias's arguments. */
function handleAlias(tool: ToolDefinition): [string, HandledTool][] {
  const { alias } = tool;
  const target = alias && targets.get(alias.of);
  if (!target) return [];
  const inputFor = (given: unknown) =>
    target.tool.input.parse(targetArguments(alias, given as Readonly<Record<string, unknown>>)); // the alias's schema is an object
  const handler: ToolHandler<unknown> = {
    handle: (given, context) => target.handler.handle(inputFor(given), context),
    mutexKey: (given) => target.handler.mutexKey?.(inputFor(given)),
  };
  return [[tool.name, { tool, handler }]];
}

export const toolHandlerFor = (name: string): HandledTool | undefined => byName.get(name);

export const handledToolNames: readonly string[] = [...byName.keys()];
