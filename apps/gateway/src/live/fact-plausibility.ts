import type { RunEvent } from '@rondo/contract';

/** A fact of the feed that cannot be one: its publisher does not know the run, or is wrong about it. */
export class ImplausibleFact extends Error {
  override readonly name = 'ImplausibleFact';
}

/**
 * What the log has said of a run, against which a fact of the feed is held before it is shown: it is of the same thread, and of no
 * earlier claim, since the writes of those are refused. That costs two comparisons; a look into the log for every fact would
 * cost more than the feed saves.
 */
export class FactPlausibility {
  private threadId: string | undefined;
  private epoch = 0;

  note({ thread_id: threadId, epoch }: RunEvent): void {
    this.threadId ??= threadId;
    this.epoch = Math.max(this.epoch, epoch);
  }

  allows({ thread_id: threadId, epoch, id }: RunEvent): boolean {
    return id.startsWith('evt_') && epoch >= this.epoch && threadId === (this.threadId ?? threadId);
  }
}
