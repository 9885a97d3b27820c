import { ask, complete, returnControlToUser } from './conversation.tools';
import type { ToolDefinition } from './define-tool';
import { createFile, deleteFile, fullFileRewrite, listFiles, readFile, strReplace } from './file.tools';
import { httpRequest } from './http.tools';
import { compactifyMemory, expandMessage, sequentialThinking, simpleMemory } from './memory.tools';
import { checkCommandOutput, executeCommand, listCommands, terminateCommand } from './shell.tools';

/** Every tool there is. A name stands once; what a run may use is its settings' `tools`. */
export const tools = [
  executeCommand,
  checkCommandOutput,
  terminateCommand,
  listCommands,
  createFile,
  readFile,
  strReplace,
  fullFileRewrite,
  deleteFile,
  listFiles,
  httpRequest,
  expandMessage,
  simpleMemory,
  sequentialThinking,
  compactifyMemory,
  ask,
  complete,
  returnControlToUser,
] as const;

export type Tool = (typeof tools)[number];
export type ExecutorTool = Extract<Tool, { runsIn: 'executor' }>;
export type ToolName = Tool['name'];

const byName = new Map<string, ToolDefinition>(tools.map((tool) => [tool.name, tool]));

export const toolNamed = (name: string): ToolDefinition | undefined => byName.get(name);

export const toolsNamed = (names: readonly string[]): ToolDefinition[] =>
  names.flatMap((name) => byName.get(name) ?? []);
