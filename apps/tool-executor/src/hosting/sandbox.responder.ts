import { setMaxListeners } from 'node:events';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { callId } from '@rondo/contract';
import { type NatsLink, answerRemovals, answerRunEnds } from '@rondo/messaging';
import { KeyedMutex } from '@rondo/platform';
import type { SandboxProvider } from '../sandboxes';
import type { SiteStore } from '../sites/site-store';
import { ExecutorClosing } from '../tools/tool-handler';

interface SandboxResponderParts {
  readonly nats: NatsLink;
  readonly executorId: string;
  readonly sandboxes: Pick<SandboxProvider, 'remove' | 'endRun'>;
  readonly sites: Pick<SiteStore, 'remove'>;
}

/** Answers requests about the sandboxes of this executor: remove a deleted thread's, end what a stopped run left running. */
export class SandboxResponder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly removals = new KeyedMutex();
  private readonly closing = new AbortController();
  private unsubscribe: (() => void)[] = [];

  constructor(private readonly parts: SandboxResponderParts) {
    setMaxListeners(0, this.closing.signal); // Every removal that waits for its turn listens.
  }

  onApplicationBootstrap(): void {
    const { nats, executorId, sandboxes, sites } = this.parts;
    this.unsubscribe = [
      // One at a time: no user waits for a removal, and running calls share the disk with it.
      answerRemovals(nats, executorId, (thread) =>
        this.removals.run(
          'removal',
          async () => {
            await sandboxes.remove(thread);
            await sites.remove(thread);
          },
          this.closing.signal,
        ),
      ),
      answerRunEnds(nats, executorId, async ({ threadId, runId }) => {
        const ended = await sandboxes.endRun(threadId, runId);
        return ended.map(({ commandId, processes, verifiedDeadAt }) => ({
          tool_call_id: callId.parse(commandId),
          verified_dead_at: verifiedDeadAt,
          processes,
        }));
      }),
    ];
  }

  /** A requester without an answer repeats its request, and the next process of this executor answers it. */
  onModuleDestroy(): void {
    for (const unsubscribe of this.unsubscribe) unsubscribe();
    this.closing.abort(new ExecutorClosing());
  }
}
