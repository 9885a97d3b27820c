import { type ExecutorResult, toFailedResult } from '@rondo/contract';
import { anySignal } from '@rondo/platform';
import type { ToolContext } from './tool-handler';

/**
 * For work without effects that cannot be undone: it ends at the call's own limit of time with a failed result, and not
 * with an unknown outcome. Rejects with the reason of the call's signal when that ended it.
 */
export async function withinTime<Result extends ExecutorResult>(
  { signal, timeoutMs }: ToolContext,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | ExecutorResult> {
  const late = AbortSignal.timeout(timeoutMs);
  const enough = anySignal([signal, late]);
  try {
    return await work(enough.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return toFailedResult(`It was not finished within ${timeoutMs / 1_000} s.`);
    throw error;
  } finally {
    enough.release();
  }
}
