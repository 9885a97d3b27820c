import type { ToolResult } from '@rondo/contract';
import { stillRunning } from '@rondo/domain';
import { type CommandOutcome, type ProcessView, SandboxError, type SandboxFiles, workspacePath } from '../../sandboxes';
import { clipMiddle, resultCharacters } from '../clip-text';
import { writeAside } from '../write-aside';
import { type ToolContext, toSuccess } from '../tool-handler';

interface ResultContext {
  readonly timeoutMs: number;
  /** What to do about a command that took too long. */
  readonly advice: string;
  /** The file with the output that the result leaves out. */
  readonly log: string | undefined;
  /** Whether the next command of this session starts where this one ended. */
  readonly keepsDirectory: boolean;
}

/**
 * A command that ran to completion counts as a success of the tool, whatever its exit code. A command that was killed does
 * not: its result gives the reason and the output until then.
 */
export function resultOfCommand(outcome: CommandOutcome, context: ResultContext): ToolResult {
  const { text, truncated } = clipMiddle(outcome.output, { restIn: context.log });
  const killedBecause = reasonOfEnding(outcome, context);
  const notes = killedBecause === undefined ? notesOn(outcome, context) : '';
  return {
    success: killedBecause === undefined,
    output: notes === '' ? text : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${notes}`,
    ...(killedBecause !== undefined && { error: killedBecause }),
    ...((truncated || outcome.truncated) && { truncated: true }),
    ...(outcome.exitCode !== undefined && { exit_code: outcome.exitCode }),
  };
}

function reasonOfEnding(
  { ending, detail, outputBytes }: CommandOutcome,
  { timeoutMs, advice }: ResultContext,
): string | undefined {
  switch (ending) {
    case 'exit':
      return detail; // of one that could not be started
    case 'timeout':
      return (
        `The command was killed after ${timeoutMs / 1000} s without having finished; ` +
        `the output is what it had printed. ${advice}`
      );
    case 'output-limit':
      return `The command was killed because it printed too much (${outputBytes} bytes). Write to a file instead.`;
    case 'oom':
      return 'The command was killed because it needed more memory than the sandbox has.';
    case 'killed':
      return `The command was killed. ${detail ?? ''}`.trim();
    case 'sandbox-lost':
      throw new SandboxError('lost', 'The sandbox died while the command ran.');
  }
}

function notesOn({ exitCode, cwd, output }: CommandOutcome, { keepsDirectory }: ResultContext): string {
  const notes = [
    ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(keepsDirectory && cwd !== workspacePath ? [`working directory ${cwd}`] : []),
    ...(exitCode === 0 && output === '' ? ['no output'] : []),
  ];
  return notes.length === 0 ? '' : `[${notes.join(', ')}]`;
}

/** What a job in the background has printed, and whether it still runs. */
export function resultOfJob(job: ProcessView): ToolResult {
  const { text, truncated } = clipMiddle(job.output);
  return {
    ...toSuccess(`${text}${text && '\n'}[${statusOfJob(job)}]`, truncated),
    ...(job.outcome?.exitCode !== undefined && { exit_code: job.outcome.exitCode }),
  };
}

export function statusOfJob({ running, startedAt, outcome }: ProcessView): string {
  if (running || outcome === undefined) return `${stillRunning}${startedAt}`;
  const seconds = (outcome.durationMs / 1000).toFixed(1);
  const why = outcome.detail === undefined ? '' : `: ${outcome.detail}`;
  switch (outcome.ending) {
    case 'exit':
      return `ended with exit code ${outcome.exitCode} after ${seconds} s${why}`;
    case 'timeout':
    case 'killed':
      return `killed after ${seconds} s${why}`;
    case 'output-limit':
      return `killed after ${seconds} s because it printed too much`;
    case 'oom':
      return `killed after ${seconds} s because it needed too much memory`;
    case 'sandbox-lost':
      return `lost after ${seconds} s: the sandbox died`;
  }
}

const folder = '.rondo/outputs';
const maximumLogs = 20;

/**
 * Writes output that is longer than a result to a file, so that the model can read the rest without running the command, and
 * its effects, again. Returns undefined when the workspace cannot be written to: the result is still useful without it.
 */
export async function logOfLongOutput(outcome: CommandOutcome, context: ToolContext): Promise<string | undefined> {
  if (outcome.output.length <= resultCharacters || outcome.ending === 'sandbox-lost') return undefined;
  const { files } = context.sandbox;
  const path = `${folder}/${context.idempotencyKey}.log`;
  try {
    await writeAside(files, path, outcome.output);
    await removeOldest(files);
    return path;
  } catch (error) {
    if (error instanceof SandboxError) return undefined;
    throw error;
  }
}

/** Ids of calls sort by time. A concurrent call may be removing the same file. */
async function removeOldest(files: SandboxFiles): Promise<void> {
  const { entries } = await files.list(folder);
  const logs = entries.map(({ path }) => path).filter((path) => path.endsWith('.log'));
  const oldest = logs.sort().slice(0, -maximumLogs);
  await Promise.allSettled(oldest.map((path) => files.delete(`${folder}/${path}`)));
}
