import { z } from 'zod';
import { defineTool, powersOfCommands } from './define-tool';

const sessionName = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'letters, digits, dot, dash and underscore only');

/** How the tools say of a command that it has not ended. */
export const stillRunning = 'still running, since ';

const saysStillRunning = (output: string): boolean => output.includes(stillRunning);

const maxCommandTimeoutS = 600;

export const executeCommand = defineTool({
  name: 'execute_command',
  description:
    'Run a bash command. With blocking=true the answer is its output and exit code, else it goes on in the background of its ' +
    'session: read it with check_command_output. A session keeps its folder and environment.',
  input: z.strictObject({
    command: z.string().min(1).max(100_000),
    folder: z.string().max(4_096).optional().describe('Default: /workspace.'),
    session_name: sessionName.optional(),
    blocking: z.boolean().default(false),
    timeout: z.number().int().min(1).max(maxCommandTimeoutS).default(60).describe('Seconds, if blocking.'),
  }),
  powers: powersOfCommands,
  effect: 'unsafe',
  runsIn: 'executor',
  exclusive: 'session',
  timeoutMs: maxCommandTimeoutS * 1000,
  group: 'shell',
  example: { command: 'grep -rn "def greet" src', blocking: true },
  xml: { content: 'command' },
});

export const checkCommandOutput = defineTool({
  name: 'check_command_output',
  description: 'Read what a background command printed, and whether it still runs.',
  input: z.strictObject({
    session_name: sessionName,
    kill_session: z.boolean().default(false),
    wait: z.number().int().min(0).max(maxCommandTimeoutS).default(0).describe('Seconds to wait for its end.'),
  }),
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs: maxCommandTimeoutS * 1000,
  group: 'shell',
  isWaiting: saysStillRunning,
  xml: { attributes: ['session_name', 'kill_session', 'wait'] },
});

export const terminateCommand = defineTool({
  name: 'terminate_command',
  description: 'Stop the command of a session, with all it started.',
  input: z.strictObject({ session_name: sessionName }),
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs: 30_000,
  group: 'shell',
  xml: { attributes: ['session_name'] },
});

export const listCommands = defineTool({
  name: 'list_commands',
  description: 'List the sessions and what runs in them.',
  input: z.strictObject({}),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 30_000,
  group: 'shell',
  isWaiting: saysStillRunning,
});

const sessionId = sessionName;

export const shellExec = defineTool({
  name: 'shell_exec',
  description:
    'Start a bash command in a session, which has one process at a time and keeps its folder and environment, and watch it for ' +
    '30 seconds. If it still runs then, it goes on in the background, and its input is open for shell_write_to_process.',
  input: z.strictObject({
    session_id: sessionId,
    command: z.string().min(1).max(100_000),
    exec_dir: z.string().max(4_096).optional().describe('Working directory; else where the session is.'),
  }),
  powers: powersOfCommands,
  effect: 'unsafe',
  runsIn: 'executor',
  exclusive: 'session',
  timeoutMs: 60_000,
  group: 'shell',
  xml: { content: 'command' },
});

export const shellWriteToProcess = defineTool({
  name: 'shell_write_to_process',
  description: 'Write to the standard input of a running process of shell_exec.',
  input: z.strictObject({
    session_id: sessionId,
    input: z.string().max(20_000),
    press_enter: z.boolean().default(false).describe('Whether a line end follows.'),
  }),
  powers: powersOfCommands,
  effect: 'unsafe',
  runsIn: 'executor',
  exclusive: 'session input',
  timeoutMs: 30_000,
  group: 'shell',
  xml: { content: 'input' },
});
