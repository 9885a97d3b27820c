import { browserTools } from './browser.tools';
import { executeCommand, shellExec } from './shell.tools';

const names: ReadonlySet<string> = new Set([executeCommand, shellExec, ...browserTools].map(({ name }) => name));

/** `server__tool`: the server may be a process in the sandbox. No tool of the catalog has such a name. */
const isOfMcpServer = (name: string): boolean => name.includes('__');

/** Whether a call of the tool may leave a process running in the sandbox, which the stop of a run has to end (I7). */
export const leavesProcesses = (name: string): boolean => names.has(name) || isOfMcpServer(name);
