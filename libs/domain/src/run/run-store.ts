import { z } from 'zod';
import type { AccountId, Message, NewFact, RecordedFact, Run, RunId, ThreadId } from '@rondo/contract';
import type { KnownCalls } from '../tool-calls/ledger';
import type { StopRequest } from '../errors';

/** Whose work a run is: that of the workers, or of the summarizers. It is always in exactly one queue. */
export const runQueueName = z.enum(['runs', 'compactions']);
export type RunQueueName = z.infer<typeof runQueueName>;

/** One worker's hold on a run. A later claim gets a higher epoch, and from then on this one cannot write (I3). */
export interface Claim {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly epoch: number;
}

export interface ClaimedRun extends Claim {
  readonly accountId: AccountId;
  readonly run: Run;
  /**
   * The facts that the run goes on from: its log without the calls of iterations that are over, and without the messages
   * that a summary stands for, but for those at the ends of the stretch.
   */
  readonly log: readonly RecordedFact[];
  /** The thread's dialogue messages from before the run, in order, without those that a summary stands for. */
  readonly earlier: readonly Message[];
  /** Who hosts the thread's sandbox; null as long as nobody does. */
  readonly executorId: string | null;
  /** Set when a stop came before the claim. */
  readonly stop: StopRequest | undefined;
  /** How many claims before this one, in a row, ended without bringing the run forward. Recovery is bounded by it. */
  readonly fruitlessClaims: number;
}

/**
 * What the holders of one queue may do with its runs. Postgres owns the truth (I1); the queue only says when to look.
 * A run changes the queue by its facts: see `movesTo`.
 */
export interface RunStore {
  /**
   * Takes a run of this queue that is due and that nobody holds. Undefined when there is nothing to take: that is no
   * error. Rejects with UnreadableRunError when the run could not be read.
   */
  claim(id: RunId, owner: string): Promise<ClaimedRun | undefined>;
  /**
   * Writes facts, and everything that follows from them (status, messages, ledger, usage), in one transaction.
   * Facts that end or park the run, or move it to another queue, end the claim. Rejects with ClaimLostError when a later
   * claim exists or the run is over, and with StopPendingError when the facts would end or park a run that was told to
   * stop, or have it wait for a summary.
   */
  append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]>;
  /**
   * Gives the claim back and queues the run again, in one transaction. Resolves also when the claim was lost. A claim
   * that is handed over in order is not fruitless, whatever it brought; one that broke is.
   */
  handOver(claim: Claim, how?: { broke: boolean }): Promise<void>;
}

/** An account that a process has served, and how many of its runs that process holds. */
export interface ServedAccount {
  readonly accountId: AccountId;
  readonly held: number;
}

export interface FairClaims {
  /**
   * Takes the run that is next, where more runs are due than can be held. Accounts take turns: next is the account of
   * which the fewest runs are held, of several the one that was served longest ago, and of it the run that has been due
   * longest. `served` is asked right before, and has the account that was served longest ago first; one that is not in
   * it goes before those.
   */
  claimNext(owner: string, served: () => readonly ServedAccount[]): Promise<ClaimedRun | undefined>;
}

/** A run that can only be ended. */
export interface LastClaim extends Claim {
  readonly run: Run;
  /** Its open calls, without their arguments and results. */
  readonly calls: KnownCalls;
  readonly stop: StopRequest | undefined;
  readonly fruitlessClaims: number;
}

export interface LastClaims {
  /** Takes a due run of this queue without reading what it would go on from. */
  claimToEnd(id: RunId, owner: string): Promise<LastClaim | undefined>;
}

/** A lease lasts as long as it is renewed, by the database's clock. */
export interface Leases {
  /** Renews every lease of this owner in one statement; says which runs it lost and which were told to stop. */
  renew(owner: string, held: readonly Claim[]): Promise<{ lost: readonly RunId[]; stops: readonly PendingStop[] }>;
  /**
   * Queues runs whose holder has gone silent, runs whose job is missing, and runs that no summarizer takes: those go
   * back to the workers. Returns how many.
   */
  reap(): Promise<number>;
}

export interface PendingStop {
  readonly runId: RunId;
  readonly stop: StopRequest;
}
