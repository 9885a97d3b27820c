import type { RunId, ThreadId } from './ids';
import type { Message } from './message';
import type { Run } from './run';
import type { NewFact, RecordedFact } from './run-event';
import type { StopRequest } from './errors';

/** One worker's hold on a run. A later claim gets a higher epoch, and from then on this one cannot write (I3). */
export interface Claim {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly epoch: number;
}

export interface ClaimedRun extends Claim {
  readonly run: Run;
  /** The run's whole log. */
  readonly log: readonly RecordedFact[];
  /** The thread's dialogue messages that are not this run's, in order. */
  readonly earlier: readonly Message[];
  /** Set when a stop came before the claim. */
  readonly stop: StopRequest | undefined;
}

/** What a worker may do with runs. Postgres owns the truth (I1); a queue only says when to look. */
export interface RunStore {
  /** Takes a run that is due and that nobody holds. Undefined when there is nothing to take: that is no error. */
  claim(id: RunId, owner: string): Promise<ClaimedRun | undefined>;
  /**
   * Writes facts, and everything that follows from them (status, messages, ledger, usage), in one transaction.
   * Terminal and waiting facts end the claim. Rejects with ClaimLostError when a later claim exists or the run is
   * over, and with StopPendingError when the facts would end or park a run that was told to stop.
   */
  append(claim: Claim, facts: readonly NewFact[]): Promise<readonly RecordedFact[]>;
  /** Gives the claim back and queues the run again, in one transaction. Resolves also when the claim was lost. */
  handOver(claim: Claim): Promise<void>;
}

/** A lease lasts as long as it is renewed, by the database's clock. */
export interface Leases {
  /** Renews every lease of this owner in one statement; says which runs it lost and which were told to stop. */
  renew(owner: string, held: readonly Claim[]): Promise<{ lost: readonly RunId[]; stops: readonly PendingStop[] }>;
  /** Queues runs whose holder has gone silent, and runs whose job is missing. Returns how many. */
  reap(): Promise<number>;
}

export interface PendingStop {
  readonly runId: RunId;
  readonly stop: StopRequest;
}
