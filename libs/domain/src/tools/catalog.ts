import { runAgentTool } from './agent.tools';
import { toolAliases } from './alias.tools';
import { browserTools } from './browser.tools';
import { ask, complete, messageUser, returnControlToUser, webBrowserTakeover } from './conversation.tools';
import type { ToolDefinition } from './define-tool';
import { deploy, exposePort, undeploy } from './deploy.tools';
import {
  createDirectory,
  createFile,
  deleteFile,
  fullFileRewrite,
  listFiles,
  readFile,
  searchFiles,
  seeImage,
  strReplace,
  strReplaceEditor,
  textExtract,
  transcribe,
  writeFile,
} from './file.tools';
import { httpRequest } from './http.tools';
import { compactifyMemory, expandMessage, sequentialThinking, simpleMemory, toolSearch } from './memory.tools';
import { memoryStoreTools } from './memory-store.tools';
import {
  checkCommandOutput,
  executeCommand,
  listCommands,
  shellExec,
  shellWriteToProcess,
  terminateCommand,
} from './shell.tools';
import { runProgram } from './program.tools';
import { toolSet } from './tool-set';
import { executeDataProviderCall, getDataProviderEndpoints, scrapeWebpage, visitWebpage, webSearch } from './web.tools';

/** Every tool that has a handler. */
export const implementedTools = [
  executeCommand,
  checkCommandOutput,
  terminateCommand,
  listCommands,
  shellExec,
  shellWriteToProcess,
  runProgram,
  createFile,
  readFile,
  strReplace,
  fullFileRewrite,
  deleteFile,
  listFiles,
  writeFile,
  createDirectory,
  searchFiles,
  strReplaceEditor,
  seeImage,
  textExtract,
  transcribe,
  httpRequest,
  exposePort,
  deploy,
  undeploy,
  webSearch,
  visitWebpage,
  scrapeWebpage,
  getDataProviderEndpoints,
  executeDataProviderCall,
  ...browserTools,
  expandMessage,
  simpleMemory,
  sequentialThinking,
  compactifyMemory,
  ...memoryStoreTools,
  toolSearch,
  ask,
  webBrowserTakeover,
  complete,
  messageUser,
  returnControlToUser,
  runAgentTool,
] as const;

export type Tool = (typeof implementedTools)[number];
export type ExecutorTool = Extract<Tool, { runsIn: 'executor' }>;
export type ToolName = Tool['name'];

/** All of them and their other names. A name stands once; what a run may use is its settings' `tools`. */
export const tools: readonly ToolDefinition[] = [...implementedTools, ...toolAliases];

/** All of them, for code that serves no single run. */
export const builtInTools = toolSet(
  tools,
  tools.map(({ name }) => name),
);

/** Whether a built-in tool can read files of the workspace and of skills. */
export const readsFiles = (tool: string): boolean =>
  ['shell', 'code', 'files'].includes(builtInTools.named(tool)?.group ?? '');
