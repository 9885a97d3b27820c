import type { RunId } from '@rondo/contract';
import type { RunQueueName } from '@rondo/domain';
import type { SeededRandom } from './seeded-random';
import type { Faults } from './faults';
import type { Timeline } from './timeline';

export interface QueueParts {
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly faults: Faults;
  /** False if no worker has a free place. */
  readonly offer: (job: Job) => boolean;
}

export interface Job {
  readonly queue: RunQueueName;
  readonly id: RunId;
  readonly activation: number;
}

const askAgainMs = 500;

/** Jobs that say that a run may be due. They can be lost, duplicated, delayed and reordered; a flush loses all. */
export class SimulatedQueue {
  private readonly waiting = new Set<string>();
  private flushes = 0;

  constructor(private readonly parts: QueueParts) {}

  /** A waiting job is not added twice. */
  add(job: Job): void {
    const name = `${job.queue}-${job.id}-${job.activation}`;
    if (this.waiting.has(name)) return;
    this.waiting.add(name);
    const { timeline, random, faults } = this.parts;
    const fate = faults.message('job');
    const arrive = (): void => this.arrive({ name, job, flushes: this.flushes });
    if (fate !== 'lost') timeline.after(random.delay(30) + (fate === 'late' ? 20_000 : 0), arrive);
    else this.waiting.delete(name);
    if (fate === 'twice') timeline.after(random.delay(2_000), arrive);
  }

  flush(): void {
    this.waiting.clear();
    this.flushes += 1;
  }

  private arrive(delivery: { readonly name: string; readonly job: Job; readonly flushes: number }): void {
    if (delivery.flushes !== this.flushes) return;
    if (this.parts.offer(delivery.job)) this.waiting.delete(delivery.name);
    else this.parts.timeline.after(askAgainMs, () => this.arrive(delivery));
  }
}
