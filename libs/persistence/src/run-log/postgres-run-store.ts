import type { NewId, NewFact, RecordedFact, RunId, ThreadId } from '@rondo/contract';
import type {
  Claim,
  ClaimedRun,
  FairClaims,
  LastClaim,
  LastClaims,
  Leases,
  PendingStop,
  PriceFactors,
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
} from './claim-runs';
import { type FailedClaim, countFailedClaim } from './failed-claim';
import { GroupCommit } from './group-commit';
import { handOver } from './release-claim';
import { claimToEnd } from './last-claim';
import { type NextOrder, FairQueue } from './fair-queue';
import { renewLeases } from './leases';
import { Reaper, type ReaperDelays } from './reaper';
import { countDueRuns, dueRuns } from './due-runs';

export interface RunStoreOptions {
  readonly database: Database;
  readonly newId: NewId;
  /** The queue whose runs this store claims; `runs` by default. */
  readonly queue?: RunQueueName;
  readonly leaseMs?: number;
  readonly reaper?: Partial<ReaperDelays>;
  /** At which factors model calls are settled with the balances of accounts. Without it, these cost nothing. */
  readonly settlesAt?: PriceFactors | undefined;
  /**
   * Called with the facts of a run that was promoted because the run ahead of it ended; empty for a run without input.
   * Its job is in the outbox.
   */
  readonly onPromoted?: (facts: readonly RecordedFact[]) => void;
}

/** How often to call `reapDead`. An owner's lock must be missing for a second before its runs are queued again. */
export const reapDeadEveryMs = 500;

/** Runs in Postgres. Call `Outbox.publish` after `handOver`, in `onPromoted`, and when `reap` found something. */
export class PostgresRunStore implements RunStore, FairClaims, LastClaims, Leases {
  private readonly database: Database;
  private readonly queue: RunQueueName;
  private readonly claims: StatementBatcher<ClaimOrder, ClaimedRun | UnreadableHistory | undefined>;
  private readonly next: StatementBatcher<NextOrder, ClaimedRow | undefined>;
  private readonly histories: StatementBatcher<ClaimedRow, RunHistory>;
  private readonly waiters: StatementBatcher<ThreadId, boolean>;
  private readonly leaseMs: number;
  private readonly log: GroupCommit;
  private readonly reaper: Reaper;

  constructor(private readonly options: RunStoreOptions) {
    this.database = options.database;
    this.leaseMs = options.leaseMs ?? 15_000;
    this.log = new GroupCommit(this.database.writer, options);
    this.queue = options.queue ?? 'runs';
    const { sql } = this.database;
    this.claims = new StatementBatcher((orders) =>
      claimRuns(sql, orders, { leaseMs: this.leaseMs, queue: this.queue }),
    );
    const fairQueue = new FairQueue(sql, { leaseMs: this.leaseMs, queue: this.queue });
    this.next = new StatementBatcher((orders) => fairQueue.claim(orders));
    this.histories = new StatementBatcher((rows) => readHistories(sql, rows));
    this.waiters = new StatementBatcher((threads) => hasWaiters(sql, threads));
    this.reaper = new Reaper(sql, { leaseMs: this.leaseMs, ...options.reaper });
  }

  async claim(id: RunId, owner: string): Promise<ClaimedRun | undefined> {
    const answer = await this.claims.of({ id, owner }).catch((cause: unknown) => ({ epoch: null, cause }));
    return this.readable(id, answer);
  }

  /** Reads the history after the claim is committed, so that an unreadable run does not undo the other claims of the batch. */
  async claimNext(owner: string, served: () => readonly ServedAccount[]): Promise<ClaimedRun | undefined> {
    const row = await this.next.of({ owner, served });
    return row && this.readable(row.run.id, await claimFrom(row, () => this.histories.of(row)));
  }

  archiveOf(claim: Claim): ThreadArchive {
    return new PostgresThreadArchive(this.database.sql, claim);
  }

  /** Counts a failed claim and rejects with its error. */
  private readable(id: RunId, answer: ClaimedRun | FailedClaim | undefined): Promise<ClaimedRun | undefined> {
    if (!answer || !('cause' in answer)) return Promise.resolve(answer);
    return countFailedClaim(this.database.sql, { ...answer, id, queue: this.queue });
  }

  claimToEnd(id: RunId, owner: string): Promise<LastClaim | undefined> {
    return claimToEnd(this.database.sql, { id, owner, leaseMs: this.leaseMs, queue: this.queue });
  }

  /** Runs of this queue that are unclaimed for `sinceMs`, oldest first: the fallback when the queue delivers no jobs. */
  due(order: { sinceMs: number; limit: number }): Promise<readonly RunId[]> {
    return dueRuns(this.database.sql, { ...order, queue: this.queue });
  }

  /** The number of due runs of this queue that are unclaimed. */
  countDue(): Promise<number> {
    return countDueRuns(this.database.sql, this.queue);
  }

  async append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]> {
    if (facts.length === 0) return [];
    const batch = batchOf(claim, facts, this.options.newId);
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

  /** After an outage of Postgres it waits one full lease, so that live owners renew first. */
  async reap(): Promise<number> {
    const found = await this.reaper.reap();
    const { newId, onPromoted } = this.options;
    return found + (await promoteStranded(this.database, newId, (facts) => onPromoted?.(facts)));
  }

  /** Queues the runs of dead owners whose leases are still valid. Costs one cheap query when no owner died. */
  reapDead(): Promise<number> {
    return this.reaper.reapDead();
  }

  /** Never rejects: the run has ended in any case, and `reap` retries what fails here. */
  private async promote(threadId: ThreadId): Promise<void> {
    const facts = await this.promoteNextOf(threadId).catch(() => undefined);
    if (facts) this.options.onPromoted?.(facts);
  }

  /** Queries after the end was committed, because a run may have been queued in the meantime. */
  private async promoteNextOf(threadId: ThreadId): Promise<readonly RecordedFact[] | undefined> {
    return (await this.waiters.of(threadId)) ? promote(this.database, this.options.newId, threadId) : undefined;
  }
}
