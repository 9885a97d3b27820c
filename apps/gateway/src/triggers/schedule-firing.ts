import { type RunId, runId } from '@rondo/contract';
import { firingStep } from '@rondo/domain';
import {
  AlreadyFired,
  type DueSchedule,
  type DueTime,
  type ExecutionOutcome,
  type Firings,
  FiringTaken,
  type PendingExecution,
  isDatabaseUnavailable,
} from '@rondo/persistence';
import type { RunService } from '../runs/run-service';
import { dueTimesOf } from './cron-times';
import { outcomeOfRefusal } from './refused-firing';
import { runOfSchedule } from './schedule-run';

export interface ScheduleFiringDependencies {
  readonly firings: Firings;
  readonly runService: Pick<RunService, 'create'>;
  readonly newId: () => string;
  /** The clock of the database, unless a test sets it. */
  readonly now?: () => Promise<Date>;
  readonly onError: (error: unknown) => void;
}

/** Bounds one pass; the next one continues. */
const mostPerPass = 100;
const atOnce = 4;

/**
 * Fires the schedules that are due. Any number of gateways do so: each due time is claimed in the transaction that creates
 * its run, so nothing is kept in memory, and a pass that is killed anywhere is continued by the next one.
 */
export class ScheduleFiring {
  constructor(private readonly dependencies: ScheduleFiringDependencies) {}

  /** Rejects when the database is away. What fails for one schedule leaves the others alone. */
  async pass(): Promise<void> {
    const { firings, now: clock = firings.now.bind(firings) } = this.dependencies;
    const now = await clock();
    await this.each(await firings.due(now, mostPerPass), (due) => this.fireDue(due, now));
    await this.each(await firings.pending(now, mostPerPass), (pending) => this.startPending(pending, now));
  }

  private async each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
    const left = [...items];
    const next = async (): Promise<void> => {
      for (let item = left.shift(); item; item = left.shift()) await work(item).catch(this.dependencies.onError);
    };
    await Promise.all(Array.from({ length: atOnce }, next));
  }

  /** All due times of a schedule, in order. */
  private async fireDue({ dueAt, ...due }: DueSchedule, now: Date): Promise<void> {
    for (let time: Date | null = dueAt; time !== null && time <= now;) {
      time = await this.step({ ...due, dueAt: time }, now);
    }
  }

  /** Resolves to the next due time; null when another gateway has taken the schedule. */
  private async step(due: DueSchedule, now: Date): Promise<Date | null> {
    const { cron, time_zone: zone, missed } = due.schedule;
    const step = firingStep({ times: dueTimesOf(cron, zone), missed, dueAt: due.dueAt }, now);
    const next = step.next ?? null;
    if (step.action === 'fire') return (await this.fire({ ...due, next }, now)) ? next : null;

    const reason = missed === 'all' ? ('too_many_missed' as const) : ('missed' as const);
    const skipped = { status: 'skipped' as const, reason, error: null, attempts: 0, dueThrough: step.through };
    await this.dependencies.firings.record({ ...due, next }, skipped);
    return next;
  }

  private async fire(due: DueTime, now: Date): Promise<boolean> {
    const { firings } = this.dependencies;
    const error = await this.createRun(due, due.dueAt, (id) => firings.fire(due, id));
    if (error === undefined) return true;
    if (error instanceof FiringTaken) return false;
    const outcome = await this.outcomeOf(due, { error, attempts: 1, now });
    await firings.record(due, outcome);
    return true;
  }

  private async startPending(pending: PendingExecution, now: Date): Promise<void> {
    const { firings } = this.dependencies;
    const error = await this.createRun(pending, pending.dueAt ?? now, (id) => firings.start(pending, id));
    if (error === undefined || error instanceof FiringTaken) return;
    const outcome = await this.outcomeOf(pending, { error, attempts: pending.attempts + 1, now });
    const stillWaits = outcome.reason === 'overlap' || outcome.reason === 'queue_full';
    if (stillWaits && pending.schedule.overlap === 'queue') return;
    await firings.recordPending(pending, outcome);
  }

  /** Resolves to why there is no run. */
  private async createRun(
    { accountId, schedule }: Pick<DueSchedule, 'accountId' | 'schedule'>,
    dueAt: Date,
    claim: (id: RunId) => ReturnType<Firings['fire']>,
  ): Promise<unknown> {
    const id = runId.parse(`run_${this.dependencies.newId()}`);
    try {
      await this.dependencies.runService.create(accountId, runOfSchedule(schedule, dueAt), {
        id,
        alongside: claim(id),
      });
      return undefined;
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error; // nothing can be recorded; the due time stays for a later pass
      return error;
    }
  }

  private async outcomeOf(
    { schedule }: Pick<DueSchedule, 'schedule'>,
    refusal: { error: unknown; attempts: number; now: Date },
  ): Promise<ExecutionOutcome> {
    if (refusal.error instanceof AlreadyFired) return { status: 'skipped', reason: 'missed', error: null, attempts: 0 };
    const isUnexpected = !(refusal.error instanceof Error) || !('code' in refusal.error);
    if (isUnexpected) this.dependencies.onError(refusal.error);
    const pending = schedule.overlap === 'queue' ? await this.dependencies.firings.countPending({ schedule }) : 0;
    return outcomeOfRefusal({ ...refusal, overlap: schedule.overlap, pending });
  }
}
