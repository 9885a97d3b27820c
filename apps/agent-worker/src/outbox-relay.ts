import type { RunQueue } from '@rondo/messaging';
import type { Outbox } from '@rondo/persistence';

/** Brings what was committed to the queue. When the queue is away nothing is lost: a later round does it. */
export class OutboxRelay {
  constructor(
    private readonly outbox: Outbox,
    private readonly queue: RunQueue,
    private readonly failed: (error: unknown) => void,
  ) {}

  async publish(): Promise<void> {
    try {
      await this.outbox.publish(({ payload }) =>
        this.queue.add({ runId: payload.run_id, activation: payload.activation }),
      );
    } catch (error) {
      this.failed(error);
    }
  }
}
