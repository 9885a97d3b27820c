import { PeriodicTask } from '@rondo/platform';

export interface TaskSchedule {
  readonly everyMs: number;
  readonly work: () => Promise<unknown>;
}

/** The periodic tasks of a process, each with its own interval. */
export class PeriodicTasks {
  private readonly tasks: ReadonlyMap<string, PeriodicTask>;

  constructor(schedules: Readonly<Record<string, TaskSchedule>>, onError: (task: string, error: unknown) => void) {
    this.tasks = new Map(
      Object.entries(schedules).map(([name, schedule]) => [
        name,
        new PeriodicTask({ ...schedule, failed: (error) => onError(name, error) }),
      ]),
    );
  }

  start(): void {
    this.tasks.forEach((task) => task.start());
  }

  /** Resolves when the executions in progress have ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.tasks.values()].map((task) => task.stop()));
  }

  /**
   * Rejects when an execution is overdue by more than `limitMs`; for liveness. A failed execution counts as ended, so a
   * server that is away does not fail the check.
   */
  assertOnTime(limitMs: number): Promise<void> {
    const stuck = [...this.tasks].filter(([, { lateMs }]) => lateMs > limitMs).map(([name]) => name);
    return stuck.length === 0 ? Promise.resolve() : Promise.reject(new Error(`stuck: ${stuck.join(', ')}`));
  }
}
