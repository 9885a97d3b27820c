import type { NewFact, RecordedFact, RunId } from '@rondo/contract';
import { type Claim, type ClaimedRun, type Leases, type RunStore, TransientError } from '@rondo/domain';
import type { SeededRandom } from './seeded-random';
import type { Faults } from './faults';
import type { InvariantChecker } from './invariant-checker';
import type { Life, Timeline } from './timeline';

export interface StoreLinkParts {
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly faults: Faults;
  readonly inspector: InvariantChecker;
  readonly store: RunStore & Leases;
  readonly life: Life;
  readonly isAway: () => boolean;
  /** The process crashes. */
  readonly die: () => void;
}

const latencyMs = 20;
const timeoutMs = 5_000;
const lateMs = 20_000;

/** A process's connection to the database. Requests and answers take time and can be lost; the process can die in between. */
export class StoreLink implements RunStore, Leases {
  constructor(private readonly parts: StoreLinkParts) {}

  claim(id: RunId, owner: string): Promise<ClaimedRun | undefined> {
    return this.ask(async () => {
      const claim = await this.parts.store.claim(id, owner);
      if (claim) this.parts.inspector.checkClaim(claim, owner);
      return claim;
    });
  }

  async append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]> {
    const { faults, inspector, store, die } = this.parts;
    const fault = faults.write();
    if (fault.dies === 'before') die();
    return this.ask(async () => {
      try {
        const recorded = await store.append(claim, facts);
        inspector.checkFacts(claim, recorded);
        if (fault.dies === 'after') die();
        if (fault.pausesMs !== undefined) this.pause(fault.pausesMs);
        return recorded;
      } catch (error) {
        inspector.countRefused(claim, String(error));
        throw error;
      }
    });
  }

  handOver(claim: Claim): Promise<void> {
    return this.ask(() => this.parts.store.handOver(claim));
  }

  renew(owner: string, held: readonly Claim[]): ReturnType<Leases['renew']> {
    return this.ask(() => this.parts.store.renew(owner, held));
  }

  reap(): Promise<number> {
    return this.ask(() => this.parts.store.reap());
  }

  private pause(forMs: number): void {
    const { life, timeline } = this.parts;
    life.pause();
    timeline.after(forMs, () => life.resume());
  }

  /** What a process sent before its death still arrives; a dead process sends and receives nothing. */
  private ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    const { timeline, random, faults, life, isAway } = this.parts;
    if (life.isOver) return new Promise(() => undefined);

    const fate = faults.storeRequest();
    return new Promise((resolve, reject) => {
      const back = (action: () => void) => timeline.within(life, random.delay(latencyMs), action);
      const fail = () => reject(new TransientError('The database did not answer.'));
      if (fate !== undefined) timeline.within(life, timeoutMs, fail);
      if (fate === 'lost') return;

      timeline.after(random.delay(latencyMs) + (fate === 'late' ? lateMs : 0), () => {
        if (isAway()) {
          back(fail);
          return;
        }
        question().then(
          (answer) => fate === 'answer lost' || back(() => resolve(answer)),
          (error: unknown) => fate === 'answer lost' || back(() => reject(error)),
        );
      });
    });
  }
}
