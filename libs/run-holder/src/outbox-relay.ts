import type { RunQueues } from '@rondo/messaging';
import type { Outbox, OutboxEntry } from '@rondo/persistence';

/** Moves committed jobs from the outbox to the queues. Never rejects: while Redis is away, entries stay for a later call. */
export class OutboxRelay {
  constructor(
    private readonly outbox: Outbox,
    private readonly queues: Pick<RunQueues, 'add'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  async publish(): Promise<void> {
    await this.outbox.publish(this.add).catch(this.onError);
  }

  /** Publishes an entry that this process has just committed, without reading the outbox. */
  async publishEntry(entry: OutboxEntry): Promise<void> {
    await this.outbox.publishEntry(entry, this.add).catch(this.onError);
  }

  private readonly add = ({ topic, payload }: OutboxEntry): Promise<void> => {
    const { run_id: runId, thread_id: threadId, activation } = payload;
    return this.queues.add(topic, { runId, threadId, activation });
  };
}
