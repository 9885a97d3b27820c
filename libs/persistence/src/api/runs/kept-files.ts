import type { NewFact, WorkspaceRewinding } from '@rondo/contract';

/** Files that an executor has kept of a moment. */
export interface KeptFiles extends WorkspaceRewinding {
  readonly executorId: string;
}

/** Has the files brought into the workspace of a run before it begins. */
export const rewindingFact = ({ thread_id, run_id, moment }: KeptFiles, iteration: number): NewFact => ({
  type: 'workspace.rewinding',
  iteration,
  data: { thread_id, run_id, moment },
});
