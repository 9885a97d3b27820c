/**
 * The thread whose workspace a row of `runs` or `threads` uses: that of its project where the threads of the project share
 * one, else its own. The project alone says so; a version that does not know of shared workspaces cannot write it wrong.
 */
export const toWorkspace = (projectId: string, ownThread: string): string =>
  `coalesce((select projects.workspace_id from projects where projects.id = ${projectId}), ${ownThread})`;

/** What a claim reads of the workspace of its run. */
export const claimedWorkspace = `${toWorkspace('claimed.project_id', 'claimed.thread_id')} as workspace_id,
  (select executor_id from sandboxes
    where sandboxes.thread_id = ${toWorkspace('claimed.project_id', 'claimed.thread_id')}) as executor_id`;
