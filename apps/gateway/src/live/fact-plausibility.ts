import { type RunEvent, epochsPerIncarnation, readIncarnation } from '@rondo/contract';

/** A fact of the feed that contradicts the log: its publisher does not know the run, or has an outdated claim. */
export class ImplausibleFact extends Error {
  override readonly name = 'ImplausibleFact';
}

/**
 * What is known of a run from its log. A fact of the feed is compared with it before it is delivered: it must be of the same thread, and
 * not of an earlier claim, whose writes are refused. That costs two comparisons; reading the log for every fact would
 * cost more than the feed saves.
 */
export class FactPlausibility {
  private threadId: string | undefined;
  private epoch = 0;

  /** The greatest that the log has shown. */
  get latestEpoch(): number {
    return this.epoch;
  }

  /** The incarnation of the log in which the run is, though it may have no fact of it yet. */
  noteIncarnation(epoch: number): void {
    this.epoch = Math.max(this.epoch, readIncarnation(epoch) * epochsPerIncarnation);
  }

  note({ thread_id: threadId, epoch }: RunEvent): void {
    this.threadId ??= threadId;
    this.epoch = Math.max(this.epoch, epoch);
  }

  allows({ thread_id: threadId, epoch, id }: RunEvent): boolean {
    return id.startsWith('evt_') && epoch >= this.epoch && threadId === (this.threadId ?? threadId);
  }
}
