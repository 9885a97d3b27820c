import { type ToolResult, toFailedResult } from '@rondo/contract';
import { executeCommand as executeCommandTool } from '@rondo/domain';
import { SandboxError } from '../../sandboxes';
import { resultCharacters } from '../clip-text';
import { logOfLongOutput, resultOfCommand, resultOfJob, statusOfJob } from './command-result';
import { jobEnded, newestOfEachSession, waitMs, withSession } from './session-jobs';
import { TerminalText, terminalText } from './terminal-text';
import { type ToolHandler, type ToolInput, type ToolContext, toSuccess } from '../tool-handler';

type CommandInput = ToolInput<'execute_command'>;

export const keptBytes = 4 * resultCharacters;

export const executeCommand: ToolHandler<CommandInput> = {
  mutexKey: ({ session_name }) => session_name && `session ${session_name}`,
  handle: (input, context) => {
    const refusal = findRefusal(context.name, input.command);
    if (refusal !== undefined) return Promise.resolve(toFailedResult(refusal));
    return input.blocking ? runToCompletion(input, context) : startInBackground(input, context);
  },
};

export const checkCommandOutput: ToolHandler<ToolInput<'check_command_output'>> = {
  handle: ({ session_name, kill_session, wait }, { sandbox, timeoutMs, signal }) =>
    withSession(sandbox, session_name, async () => {
      if (kill_session) await sandbox.terminate(session_name);
      await jobEnded(sandbox, session_name, { withinMs: waitMs(wait, timeoutMs), signal });
      return resultOfJob(await sandbox.read(session_name));
    }),
};

export const terminateCommand: ToolHandler<ToolInput<'terminate_command'>> = {
  handle: ({ session_name }, { sandbox }) =>
    withSession(sandbox, session_name, async () => {
      const { wasRunning } = await sandbox.terminate(session_name);
      return toSuccess(
        wasRunning
          ? `The command in session ${session_name} was killed, with everything it had started.`
          : `Nothing was running in session ${session_name} any more.`,
      );
    }),
};

export const listCommands: ToolHandler<ToolInput<'list_commands'>> = {
  handle: async (_input, { sandbox }) => {
    const jobs = newestOfEachSession(await sandbox.list());
    const lines = jobs.map((job) => `${job.session}: ${statusOfJob(job)}: ${firstLine(job.command)}`);
    return toSuccess(lines.join('\n') || 'No command runs in the background.');
  },
};

/** II-Agent's bash leaves the history of a repository to its user. That is a habit for models, not a protection. */
function findRefusal(name: string, command: string): string | undefined {
  const subcommand = name === 'bash' ? /\bgit\s+(init|add|commit)\b/.exec(command)?.[1] : undefined;
  return (
    subcommand && `Not executed: git ${subcommand} is not for bash. Leave the history of repositories to the user.`
  );
}

/**
 * A named session continues in the directory where its last command ended. A command without a session starts in /workspace,
 * so that concurrent calls do not depend on each other.
 */
async function runToCompletion(input: CommandInput, context: ToolContext): Promise<ToolResult> {
  const { command, folder, session_name } = input;
  const cwd = folder ?? (session_name === undefined ? '.' : undefined);
  const timeoutMs = Math.min(input.timeout * 1000, context.timeoutMs);
  const whole = new TerminalText(keptBytes);
  let seen = 0;
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
    {
      output: ({ text, offset }) => {
        context.output(text);
        if (offset === seen) whole.push(text);
        seen = offset === seen ? seen + text.length : NaN; // a call that attached later has not seen the beginning
      },
      signal: context.signal,
    },
  );
  if (outcome.ending === 'killed') context.signal.throwIfAborted();
  const shown = outcome.truncated && seen > 0 ? whole.result : terminalText(outcome);
  return resultOfCommand(
    { ...outcome, ...shown },
    {
      timeoutMs,
      advice: adviceOnTime(context, timeoutMs),
      keepsDirectory: session_name !== undefined,
      log: await logOfLongOutput(outcome, context),
    },
  );
}

/** Only the tool itself has a parameter for the timeout; its aliases do not. */
function adviceOnTime({ name, timeoutMs: limit }: ToolContext, timeoutMs: number): string {
  const limited = `This run's limit is ${limit / 1000} s`;
  if (name !== executeCommandTool.name) return `${limited}: run it in the background.`;
  const instead = timeoutMs < limit ? 'Give a longer timeout, or run it' : `${limited}: run it`;
  return `${instead} with blocking=false and look at it with check_command_output.`;
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
    return toSuccess(
      `Started in session ${session}, working directory ${cwd}. It goes on in the background: ` +
        `use check_command_output with session_name "${session}" to see what it prints and whether it still runs.`,
    );
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== 'session_busy') throw error;
    return toFailedResult(
      `Session ${session} still runs a command. Wait for it with check_command_output, ` +
        `end it with terminate_command, or use another session_name.`,
    );
  }
}

function firstLine(command: string): string {
  const line = command.trim().split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
