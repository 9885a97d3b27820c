import { PeriodicTask } from '@rondo/platform';

export interface TaskSchedule {
  readonly everyMs: number;
  readonly work: () => Promise<unknown>;
}

/** What a worker does besides running runs, each in its own rhythm. */
export class PeriodicTasks {
  private readonly rhythms: ReadonlyMap<string, PeriodicTask>;

  constructor(rounds: Readonly<Record<string, TaskSchedule>>, failed: (round: string, error: unknown) => void) {
    this.rhythms = new Map(
      Object.entries(rounds).map(([name, round]) => [
        name,
        new PeriodicTask({ ...round, failed: (error) => failed(name, error) }),
      ]),
    );
  }

  start(): void {
    this.rhythms.forEach((rhythm) => rhythm.start());
  }

  async stop(): Promise<void> {
    await Promise.all([...this.rhythms.values()].map((rhythm) => rhythm.stop()));
  }

  /**
   * Rejects when a round has not come round for so long; for liveness. A server that is away ends a round too: it fails,
   * and the next one comes in time.
   */
  comeRound(limitMs: number): Promise<void> {
    const stuck = [...this.rhythms].filter(([, { lateMs }]) => lateMs > limitMs).map(([name]) => name);
    return stuck.length === 0 ? Promise.resolve() : Promise.reject(new Error(`stuck: ${stuck.join(', ')}`));
  }
}
