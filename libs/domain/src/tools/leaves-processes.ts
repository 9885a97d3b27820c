import { toolAliases } from './alias.tools';
import { browserTools } from './browser.tools';
import { runProgram } from './program.tools';
import { executeCommand, shellExec } from './shell.tools';

const targets: ReadonlySet<string> = new Set(
  [executeCommand, shellExec, runProgram, ...browserTools].map(({ name }) => name),
);
const aliases = toolAliases.filter(({ alias }) => alias !== undefined && targets.has(alias.of));

/** The built-in tools whose calls may leave a process running. */
export const processTools: readonly string[] = [...targets, ...aliases.map(({ name }) => name)];
const names: ReadonlySet<string> = new Set(processTools);

/** `server__tool`: only the names of tools of MCP servers contain it. */
export const serverToolMark = '__';

/**
 * Whether a call of the tool may leave a process running in the sandbox, which the stop of a run has to end (I7). An MCP
 * server may be such a process; its name does not say whether it runs elsewhere.
 */
export const leavesProcesses = (name: string): boolean => names.has(name) || name.includes(serverToolMark);
