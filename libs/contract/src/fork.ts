import { z } from 'zod';
import { runId, threadId } from './ids';

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

const changedPaths = z.object({
  count: z.number().int().nonnegative(),
  paths: z.array(z.string()).describe('The first ones.'),
});

/** What a return to an earlier state does to the files of a workspace. */
export const fileChanges = z.object({
  created: changedPaths.describe('Were there then, and are not now.'),
  changed: changedPaths.describe('Have another content, mode or target.'),
  removed: changedPaths.describe('Were not there then.'),
});
export type FileChanges = z.infer<typeof fileChanges>;

/** The files that a workspace gets before its run begins: those of `thread_id` after a call, or before the first call of a run. */
export const workspaceRewinding = z.object({
  thread_id: threadId,
  run_id: runId.describe('The run that had the moment.'),
  moment: z.string(),
});
export type WorkspaceRewinding = z.infer<typeof workspaceRewinding>;

export const workspaceRewound = fileChanges.extend({ duration_ms: z.number().nonnegative() });
