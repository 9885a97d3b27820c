import type { ThreadId } from '@rondo/contract';
import type { HostedSandbox } from '@rondo/persistence';

export interface VacatedSandboxes {
  claimDeleted(): Promise<readonly HostedSandbox[]>;
  forget(threads: readonly ThreadId[]): Promise<void>;
}

/**
 * Has the executors delete the workspaces of deleted threads. Those that are away are asked again later. In place of one that is
 * lost, another one deletes the copy of the files; should the lost one come back, it asks by itself which threads are deleted.
 */
export class WorkspaceRemoval {
  constructor(
    private readonly sandboxes: VacatedSandboxes,
    /** False where the executor is away, or could not delete it. */
    private readonly askToForget: (executorId: string, threadId: ThreadId) => Promise<boolean>,
    /** One for each executor: itself, unless it is lost. */
    private readonly standInFor: (executorId: string) => string,
  ) {}

  async remove(): Promise<void> {
    const vacated = await this.sandboxes.claimDeleted();
    const gone = await Promise.all(
      vacated.map(async ({ executorId, threadId }) =>
        (await this.askToForget(this.standInFor(executorId), threadId)) ? [threadId] : [],
      ),
    );
    await this.sandboxes.forget(gone.flat());
  }
}
