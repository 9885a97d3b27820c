import { setTimeout as delay } from 'node:timers/promises';
import { type ToolResult, toFailedResult } from '@rondo/contract';
import { type ProcessView, type Sandbox, SandboxError } from '../../sandboxes';

const [firstPauseMs, longestPauseMs] = [20, 500];
/** What a call needs besides the wait. */
const slackMs = 2_000;

export const waitMs = (seconds: number, timeoutMs: number): number => Math.min(seconds * 1000, timeoutMs - slackMs);

/** Resolves when the job of a session has ended, or after the time. A sandbox reports no ends, so it is asked again and again. */
export async function jobEnded(
  sandbox: Sandbox,
  session: string,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + withinMs;
  const { nextOffset } = await sandbox.read(session);
  for (let pauseMs = firstPauseMs; performance.now() < until; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    signal.throwIfAborted();
    if (!(await sandbox.read(session, nextOffset)).running) return;
    await delay(Math.min(pauseMs, until - performance.now()), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    );
  }
}

/** Explains to the model that there is no such session. */
export async function withSession(
  sandbox: Sandbox,
  name: string,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== 'not_found') throw error;
    const known = newestOfEachSession(await sandbox.list()).map(({ session }) => session);
    return toFailedResult(
      `No command was started in the background of session ${name}, or the sandbox has restarted since. ` +
        `Sessions: ${known.join(', ') || 'none'}.`,
    );
  }
}

/** `list` returns the newest first. */
export const newestOfEachSession = (jobs: readonly ProcessView[]): ProcessView[] => [
  ...new Map(jobs.toReversed().map((job) => [job.session, job])).values(),
];
