import { z } from 'zod';
import { callId } from './ids';
import { stoppedChildRun } from './run';

/** What a stop has ended, and when that was seen (I7). */
export const stopReceipt = z.object({
  requested_at: z.iso.datetime(),
  model_aborted_at: z.iso.datetime().nullable(),
  /** Calls that were running, and calls that had left a background job or a daemon. */
  tools_stopped: z.array(
    z.object({
      tool_call_id: callId,
      verified_dead_at: z.iso.datetime().nullable(),
      /** The names of the processes that it had left running; the processes choose them. */
      processes: z.array(z.string()).exactOptional(),
    }),
  ),
  /** Child runs that were told to stop; `ended_at` is null if their end was not seen in time. */
  child_runs_stopped: z.array(stoppedChildRun).exactOptional(),
  tokens_after_stop: z.number().int().nonnegative(),
  /** When the last stopped tool was seen dead. Null if one was not, if none ran, or if it was not confirmed that the
   * run left no process running. */
  sandbox_verified_at: z.iso.datetime().nullable(),
});
