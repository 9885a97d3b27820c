import { z } from 'zod';
import { runId } from './ids';

/** The run whose log another one begins with, and the last fact that they share. `hash` is its hash chain up to that fact. */
export const forkOrigin = z.object({ run_id: runId, seq: z.number().int().positive(), hash: z.string() });
export type ForkOrigin = z.infer<typeof forkOrigin>;

/** The first fact of a fork that is its own. */
export const runForked = forkOrigin.extend({
  requested_seq: z.number().int().positive(),
  /** Why fewer facts are shared than were asked for. */
  cut_back: z.string().nullable(),
  /** When the last shared fact was written: the time since then does not count as time of this run. */
  paused_since: z.iso.datetime(),
  /** The model from now on, where it is another one. */
  model: z.string().exactOptional(),
  /** Files that the origin has made, and processes that it has started, are not in the workspace of the fork. */
  workspace: z.literal('empty'),
});
