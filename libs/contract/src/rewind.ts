import { z } from 'zod';
import { runId, threadId } from './ids';

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
