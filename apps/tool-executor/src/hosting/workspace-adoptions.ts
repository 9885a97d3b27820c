import { setTimeout as delay } from 'node:timers/promises';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { type Adoption, type AdoptionState, type NatsLink, answerAdoptions } from '@rondo/messaging';
import type { SandboxCopies, SandboxLog } from '../sandboxes';
import type { WorkspaceHosting } from './workspace-ownership';

interface AdoptionParts {
  readonly nats: NatsLink;
  readonly executorId: string;
  /** Absent: this executor restores no workspaces. */
  readonly copies: SandboxCopies | undefined;
  readonly hosting: Pick<WorkspaceHosting, 'ask' | 'inTurn' | 'absences'>;
  readonly log: SandboxLog;
}

type Ended = Exclude<AdoptionState, 'restoring'>;

/** The requester waits for two seconds. */
const answerWithinMs = 1_000;
/** How long a request may be repeated whose answer was lost. */
const rememberMs = 10 * 60_000;

/**
 * Restores workspaces of lost executors here. It takes as long as fetching the copy does, so a request is answered at once and
 * repeated until the work is done. What is done is remembered for a while: a repetition must not restore again, since the
 * thread may already be used here.
 */
export class WorkspaceAdoptions implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly adopting = new Map<string, Promise<Ended>>();
  private unsubscribe: () => void = () => undefined;

  constructor(private readonly parts: AdoptionParts) {}

  onApplicationBootstrap(): void {
    const { nats, executorId, copies } = this.parts;
    if (copies) this.unsubscribe = answerAdoptions(nats, executorId, (adoption) => this.answer(adoption, copies));
  }

  onModuleDestroy(): void {
    this.unsubscribe();
  }

  private async answer(adoption: Adoption, copies: SandboxCopies): Promise<AdoptionState> {
    const key = `${adoption.threadId} ${adoption.from} ${this.parts.hosting.absences}`;
    const work = this.adopting.get(key) ?? this.begin(key, this.adopt(adoption, copies));
    const answered = new AbortController();
    const late = delay(answerWithinMs, undefined, { signal: answered.signal }).catch(() => undefined);
    const state = await Promise.race([work, late.then(() => 'restoring' as const)]);
    answered.abort();
    if (state === 'failed') this.adopting.delete(key); // the next request tries again
    return state;
  }

  private begin(key: string, work: Promise<Ended>): Promise<Ended> {
    this.adopting.set(key, work);
    void work.then(() => setTimeout(() => this.adopting.delete(key), rememberMs).unref());
    return work;
  }

  private async adopt({ threadId, from }: Adoption, copies: SandboxCopies): Promise<Ended> {
    const { executorId, hosting, log } = this.parts;
    if (from === executorId) return 'failed';
    try {
      return await hosting.inTurn(threadId, async () => {
        if (!copies.hasFiles(threadId)) {
          await copies.restore(threadId, from);
          return 'adopted';
        }
        const known = await hosting.ask([threadId]);
        if (!known?.moved || known.deleted.includes(threadId)) return 'failed';
        // Else an executor that was restarted would undo what the thread has done here since.
        if (known.moved.includes(threadId)) await copies.restore(threadId, from);
        return 'adopted';
      });
    } catch (error) {
      log.warn({ threadId, from, err: error }, 'workspace of a lost executor could not be restored');
      return 'failed';
    }
  }
}
