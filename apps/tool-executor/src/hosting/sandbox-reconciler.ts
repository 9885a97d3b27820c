import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { type ThreadId, threadId } from '@rondo/contract';
import { threadsPerRequest } from '@rondo/messaging';
import { PeriodicTask } from '@rondo/platform';
import type { SiteStore } from '../sites/site-store';
import type { SandboxLog, SandboxProvider } from '../sandboxes';
import type { WorkspaceHosting } from './workspace-ownership';

interface ReconcilerParts {
  readonly sandboxes: Pick<SandboxProvider, 'list' | 'remove' | 'records'>;
  readonly sites: Pick<SiteStore, 'threads' | 'remove'>;
  readonly hosting: Pick<WorkspaceHosting, 'ask' | 'inTurn' | 'leave'>;
  readonly everyMs: number;
  readonly log: SandboxLog;
}

/**
 * Removes the sandboxes and sites of threads that do not exist. Workers ask for a removal when a thread is deleted; none is asked for
 * where the database does not know the sandbox, for example because its executor died in between. Sandboxes are found by
 * what the provider lists, so none of this deployment is overlooked. What another executor hosts meanwhile is removed too.
 */
export class SandboxReconciler implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly task: PeriodicTask;

  constructor(private readonly parts: ReconcilerParts) {
    const failed = (error: unknown) =>
      parts.log.warn({ err: error }, 'sandboxes could not be compared with the threads');
    this.task = new PeriodicTask({ everyMs: parts.everyMs, work: () => this.reconcile(), failed });
  }

  onApplicationBootstrap(): void {
    this.task.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.task.stop();
  }

  async reconcile(): Promise<void> {
    const listed = (await this.parts.sandboxes.list()).map((sandbox) => sandbox.threadId);
    const { sites, sandboxes } = this.parts;
    const named = [...listed, ...(await sites.threads()), ...(await sandboxes.records.threads())];
    const threads = [...new Set(named.flatMap((thread) => threadId.safeParse(thread).data ?? []))];
    for (let from = 0; from < threads.length; from += threadsPerRequest) {
      const known = await this.parts.hosting.ask(threads.slice(from, from + threadsPerRequest));
      for (const thread of known?.deleted ?? []) await this.remove(thread);
      for (const thread of known?.moved ?? []) await this.parts.hosting.leave(thread);
    }
  }

  /** One that cannot be removed is tried again the next time, and does not keep the others. */
  private async remove(thread: ThreadId): Promise<void> {
    const { sandboxes, sites, hosting, log } = this.parts;
    try {
      await hosting.inTurn(thread, () => sandboxes.remove(thread));
      await sites.remove(thread);
      log.warn({ threadId: thread }, 'sandbox of a thread that does not exist removed');
    } catch (error) {
      log.warn({ threadId: thread, err: error }, 'sandbox of a thread that does not exist could not be removed');
    }
  }
}
