import { type ToolResult, failedResult } from '@rondo/contract';
import { clipMiddle, resultCharacters } from '../clip-text';
import { type ProcessView, type Sandbox, SandboxError } from '../../sandboxes';
import { logOfLongOutput, resultOfCommand, statusOfJob } from './command-result';
import { type ToolHandler, type InputOf, type ToolContext, succeeded } from '../tool-handler';

type CommandInput = InputOf<'execute_command'>;

const keptBytes = 4 * resultCharacters;

export const executeCommand: ToolHandler<CommandInput> = {
  mutexKey: ({ session_name }) => session_name && `session ${session_name}`,
  handle: (input, context) => (input.blocking ? runToCompletion(input, context) : startInBackground(input, context)),
};

export const checkCommandOutput: ToolHandler<InputOf<'check_command_output'>> = {
  handle: ({ session_name, kill_session }, { sandbox }) =>
    withSession(sandbox, session_name, async () => {
      if (kill_session) await sandbox.terminate(session_name);
      const job = await sandbox.read(session_name);
      const { text, truncated } = clipMiddle(job.output);
      return {
        ...succeeded(`${text}${text && '\n'}[${statusOfJob(job)}]`, truncated),
        ...(job.outcome?.exitCode !== undefined && { exit_code: job.outcome.exitCode }),
      };
    }),
};

export const terminateCommand: ToolHandler<InputOf<'terminate_command'>> = {
  handle: ({ session_name }, { sandbox }) =>
    withSession(sandbox, session_name, async () => {
      const { wasRunning } = await sandbox.terminate(session_name);
      return succeeded(
        wasRunning
          ? `The command in session ${session_name} was killed, with everything it had started.`
          : `Nothing was running in session ${session_name} any more.`,
      );
    }),
};

export const listCommands: ToolHandler<InputOf<'list_commands'>> = {
  handle: async (_input, { sandbox }) => {
    const jobs = newestOfEachSession(await sandbox.list());
    const lines = jobs.map((job) => `${job.session}: ${statusOfJob(job)}: ${firstLine(job.command)}`);
    return succeeded(lines.join('\n') || 'No command runs in the background.');
  },
};

/**
 * A named session continues in the directory where its last command ended. A command without a session starts in /workspace,
 * so that concurrent calls do not depend on each other.
 */
async function runToCompletion(input: CommandInput, context: ToolContext): Promise<ToolResult> {
  const { command, folder, session_name } = input;
  const cwd = folder ?? (session_name === undefined ? '.' : undefined);
  const timeoutMs = Math.min(input.timeout * 1000, context.timeoutMs);
  const outcome = await context.sandbox.exec(
    {
      id: context.idempotencyKey,
      run: context.runId,
      command,
      timeoutMs,
      keepBytes: keptBytes,
      ...(cwd !== undefined && { cwd }),
      ...(session_name !== undefined && { session: session_name }),
    },
    { output: ({ text }) => context.output(text), signal: context.signal },
  );
  if (outcome.ending === 'killed') context.signal.throwIfAborted();
  return resultOfCommand(outcome, {
    timeoutMs,
    mayTakeLonger: timeoutMs < context.timeoutMs,
    keepsDirectory: session_name !== undefined,
    log: await logOfLongOutput(outcome, context),
  });
}

async function startInBackground(
  { command, folder, session_name }: CommandInput,
  context: ToolContext,
): Promise<ToolResult> {
  const session = session_name ?? `session_${context.idempotencyKey.slice(-8)}`;
  try {
    const { cwd } = await context.sandbox.start({
      id: context.idempotencyKey,
      run: context.runId,
      command,
      session,
      keepBytes: keptBytes,
      ...(folder !== undefined && { cwd: folder }),
    });
    context.signal.throwIfAborted(); // The run was stopped while the sandbox booted: the command that just started is killed.
    return succeeded(
      `Started in session ${session}, working directory ${cwd}. It goes on in the background: ` +
        `use check_command_output with session_name "${session}" to see what it prints and whether it still runs.`,
    );
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== 'session_busy') throw error;
    return failedResult(
      `Session ${session} still runs a command. Wait for it with check_command_output, ` +
        `end it with terminate_command, or use another session_name.`,
    );
  }
}

async function withSession(sandbox: Sandbox, name: string, work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== 'not_found') throw error;
    const known = newestOfEachSession(await sandbox.list()).map(({ session }) => session);
    return failedResult(
      `No command was started in the background of session ${name}, or the sandbox has restarted since. ` +
        `Sessions: ${known.join(', ') || 'none'}.`,
    );
  }
}

/** `list` returns the newest first. */
const newestOfEachSession = (jobs: readonly ProcessView[]): ProcessView[] => [
  ...new Map(jobs.toReversed().map((job) => [job.session, job])).values(),
];

function firstLine(command: string): string {
  const line = command.trim().split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
