import { type AccountId, type RunId, runId } from '@rondo/contract';
import { firingStep } from '@rondo/domain';
import {
  type AlongsideRun,
  type DueSchedule,
  type DueTime,
  type Firings,
  FiringTaken,
  type PendingExecution,
  isDatabaseUnavailable,
} from '@rondo/persistence';
import type { RunRequest, RunService } from '../runs/run-service';
import { dueTimesOf } from './cron-times';
import { RefusedFirings } from './refused-firing';
import { runOfSchedule, runOfTrigger } from './run-request';
import { nextFires } from './schedule-service';

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
  private readonly outcomes: RefusedFirings;

  constructor(private readonly dependencies: ScheduleFiringDependencies) {
    this.outcomes = new RefusedFirings(dependencies.firings, dependencies.onError);
  }

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
    const next = step.next === undefined ? [] : nextFires(due.schedule, new Date(step.next.getTime() - 1));
    if (step.action === 'fire') return (await this.fire({ ...due, next }, now)) ? (next[0] ?? null) : null;

    const reason = missed === 'all' ? ('too_many_missed' as const) : ('missed' as const);
    const skipped = { status: 'skipped' as const, reason, error: null, attempts: 0, dueThrough: step.through };
    await this.dependencies.firings.record({ ...due, next }, skipped);
    return next[0] ?? null;
  }

  private async fire(due: DueTime, now: Date): Promise<boolean> {
    const { accountId, schedule, dueAt } = due;
    const { firings } = this.dependencies;
    const request = runOfSchedule(schedule, dueAt);
    const error = await this.createRun({ accountId, request, claim: (id) => firings.fire(due, id) });
    if (error === undefined) return true;
    if (error instanceof FiringTaken) return false;
    const outcome = await this.outcomes.of(schedule, { error, attempts: 1, now });
    await firings.record(due, outcome);
    return true;
  }

  private async startPending(pending: PendingExecution, now: Date): Promise<void> {
    const { firings } = this.dependencies;
    const { accountId, trigger } = pending;
    const request = requestOf(pending, now);
    const error = await this.createRun({ accountId, request, claim: (id) => firings.start(pending, id) });
    if (error === undefined || error instanceof FiringTaken) return;
    const outcome = await this.outcomes.of(trigger, { error, attempts: pending.attempts + 1, now });
    const stillWaits = outcome.reason === 'overlap' || outcome.reason === 'queue_full';
    if (stillWaits && trigger.overlap === 'queue') return;
    await firings.recordPending(pending, outcome);
  }

  /** Resolves to why there is no run. */
  private async createRun({ accountId, request, claim }: WantedRun): Promise<unknown> {
    const id = runId.parse(`run_${this.dependencies.newId()}`);
    try {
      await this.dependencies.runService.create(accountId, request, { id, alongside: claim(id) });
      return undefined;
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error; // nothing can be recorded; the due time stays for a later pass
      return error;
    }
  }
}

interface WantedRun {
  readonly accountId: AccountId;
  readonly request: RunRequest;
  readonly claim: (id: RunId) => AlongsideRun;
}

const requestOf = ({ trigger, input, dueAt }: PendingExecution, now: Date): RunRequest =>
  'cron' in trigger ? runOfSchedule(trigger, dueAt ?? now) : runOfTrigger(trigger, input ?? '');
