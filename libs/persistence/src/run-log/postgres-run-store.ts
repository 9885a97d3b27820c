import type { NewId, NewFact, RecordedFact, RunId, ThreadId } from '@rondo/contract';
import type {
  Claim,
  ClaimedRun,
  FairClaims,
  LastClaim,
  LastClaims,
  Leases,
  PendingStop,
  RunQueueName,
  RunStore,
  ServedAccount,
  ThreadArchive,
} from '@rondo/domain';
import type { Database } from '../database/database';
import { hasWaiters, promote, promoteStranded } from '../api/runs/promote-run';
import { PostgresThreadArchive } from './thread-archive';
import { StatementBatcher } from '../database/statement-batcher';
import { batchOf } from './batch';
import {
  type ClaimOrder,
  type RunHistory,
  type ClaimedRow,
  type UnreadableHistory,
  claimFrom,
  claimRuns,
  readHistories,
} from './claim';
import { type FailedClaim, countFailedClaim } from './failed-claim';
import { GroupCommit } from './group-commit';
import { handOver } from './hand-over';
import { claimToEnd } from './last-claim';
import { type NextOrder, FairQueue } from './fair-queue';
import { renewLeases } from './leases';
import { Reaper, type ReaperPatience } from './reaper';
import { countDueRuns, dueRuns } from './due-runs';

export interface RunStoreOptions {
  readonly database: Database;
  readonly mint: NewId;
  /** Whose runs this store hands out; the workers' unless given. */
  readonly queue?: RunQueueName;
  readonly leaseMs?: number;
  readonly reaper?: Partial<ReaperPatience>;
  /**
   * Hears the facts of a run that came forward because the one before it ended; none where it has no input. Its job is
   * in the outbox.
   */
  readonly onPromoted?: (facts: readonly RecordedFact[]) => void;
}

/** How often `reapAbsent` is to look: one that died is missed for a second or so before its runs are queued again. */
export const reapDeadEveryMs = 500;

/** Runs in Postgres. Call `Outbox.publish` after `handOver`, in `onPromoted`, and when `reap` found something. */
export class PostgresRunStore implements RunStore, FairClaims, LastClaims, Leases {
  private readonly database: Database;
  private readonly queue: RunQueueName;
  private readonly claims: StatementBatcher<ClaimOrder, ClaimedRun | UnreadableHistory | undefined>;
  private readonly next: StatementBatcher<NextOrder, ClaimedRow | undefined>;
  private readonly pasts: StatementBatcher<ClaimedRow, RunHistory>;
  private readonly awaited: StatementBatcher<ThreadId, boolean>;
  private readonly leaseMs: number;
  private readonly log: GroupCommit;
  private readonly reaper: Reaper;

  constructor(private readonly options: RunStoreOptions) {
    this.database = options.database;
    this.leaseMs = options.leaseMs ?? 15_000;
    this.log = new GroupCommit(this.database.writer);
    this.queue = options.queue ?? 'runs';
    const { sql } = this.database;
    this.claims = new StatementBatcher((orders) =>
      claimRuns(sql, orders, { leaseMs: this.leaseMs, queue: this.queue }),
    );
    const lines = new FairQueue(sql, { leaseMs: this.leaseMs, queue: this.queue });
    this.next = new StatementBatcher((orders) => lines.take(orders));
    this.pasts = new StatementBatcher((taken) => readHistories(sql, taken));
    this.awaited = new StatementBatcher((threads) => hasWaiters(sql, threads));
    this.reaper = new Reaper(sql, { leaseMs: this.leaseMs, ...options.reaper });
  }

  async claim(id: RunId, owner: string): Promise<ClaimedRun | undefined> {
    const answer = await this.claims.of({ id, owner }).catch((cause: unknown) => ({ epoch: null, cause }));
    return this.readable(id, answer);
  }

  /** What it goes on from is read once it is taken: of a run that cannot be read, no other need be taken again. */
  async claimNext(owner: string, served: () => readonly ServedAccount[]): Promise<ClaimedRun | undefined> {
    const taken = await this.next.of({ owner, served });
    return taken && this.readable(taken.run.id, await claimFrom(taken, () => this.pasts.of(taken)));
  }

  archiveOf(claim: Claim): ThreadArchive {
    return new PostgresThreadArchive(this.database.sql, claim);
  }

  /** Counts a claim that came to nothing. */
  private readable(id: RunId, answer: ClaimedRun | FailedClaim | undefined): Promise<ClaimedRun | undefined> {
    if (!answer || !('cause' in answer)) return Promise.resolve(answer);
    return countFailedClaim(this.database.sql, { ...answer, id, queue: this.queue });
  }

  claimToEnd(id: RunId, owner: string): Promise<LastClaim | undefined> {
    return claimToEnd(this.database.sql, { id, owner, leaseMs: this.leaseMs, queue: this.queue });
  }

  /** Runs of this queue that nobody has taken for so long, the oldest first: for times when the queue is silent (R11). */
  due(order: { sinceMs: number; limit: number }): Promise<readonly RunId[]> {
    return dueRuns(this.database.sql, { ...order, queue: this.queue });
  }

  /** How many runs of this queue nobody holds though they could go on. */
  countDue(): Promise<number> {
    return countDueRuns(this.database.sql, this.queue);
  }

  async append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]> {
    if (facts.length === 0) return [];
    const batch = batchOf(claim, facts, this.options.mint);
    const recorded = await this.log.write(batch);
    if (batch.changes.terminal) await this.promote(claim.threadId);
    return recorded;
  }

  handOver(claim: Claim, how = { broke: false }): Promise<void> {
    return handOver(this.database.sql, claim, how);
  }

  renew(owner: string, held: readonly Claim[]): Promise<{ lost: readonly RunId[]; stops: readonly PendingStop[] }> {
    return renewLeases(this.database.sql, { owner, held, leaseMs: this.leaseMs });
  }

  /** After an outage of Postgres it waits one full lease, so that living holders renew first (R1). */
  async reap(): Promise<number> {
    const found = await this.reaper.reap();
    const { mint, onPromoted } = this.options;
    return found + (await promoteStranded(this.database, mint, (facts) => onPromoted?.(facts)));
  }

  /** Queues the runs of holders that died with their leases still good. One cheap look when nobody did. */
  reapDead(): Promise<number> {
    return this.reaper.reapAbsent();
  }

  /** The run is over whether or not this succeeds; what fails here, `reap` does later. */
  private async promote(threadId: ThreadId): Promise<void> {
    const facts = await this.bringForward(threadId).catch(() => undefined);
    if (facts) this.options.onPromoted?.(facts);
  }

  /** The question is its own, asked after the end was committed: a run that queued meanwhile must be seen. */
  private async bringForward(threadId: ThreadId): Promise<readonly RecordedFact[] | undefined> {
    return (await this.awaited.of(threadId)) ? promote(this.database, this.options.mint, threadId) : undefined;
  }
}
