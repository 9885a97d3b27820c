import { type AccountId, type RunId, runId } from '@rondo/contract';
import type { WorkSignal } from '@rondo/messaging';
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
import { ApiError } from '../problems/api-error';
import type { RunRequest, RunService } from '../runs/run-service';
import { toDueTimes } from './cron-times';
import { RefusedFirings } from './refused-firing';
import { runOfSchedule, runOfTrigger } from './run-request';
import { nextFires } from './schedule-service';

export interface ScheduleFiringDependencies {
  readonly firings: Firings;
  readonly runService: Pick<RunService, 'create'>;
  readonly newId: () => string;
  readonly workSignal: Pick<WorkSignal, 'announce'>;
  /** Throws an ApiError, `rate_limited`, when the account has used up its request rate. */
  readonly spendRequest: (account: AccountId) => void;
  /** The clock of the database, unless a test sets it. */
  readonly now?: () => Promise<Date>;
  readonly onError: (error: unknown) => void;
}

/** Due times that one pass fires or skips, and pending executions that it starts, at most. The next one continues. */
const mostPerPass = 100;
const atOnce = 4;

/**
 * Fires the schedules that are due. Any number of gateways do so: each due time is claimed in the transaction that creates
 * its run, so nothing is kept in memory, and a pass that is killed anywhere is continued by the next one.
 */
export class ScheduleFiring {
  private readonly outcomes: RefusedFirings;

  /** Accounts whose request rate was used up in the pass before. They are left out of one pass, so that others get their places. */
  private refused = new Set<AccountId>();

  constructor(private readonly dependencies: ScheduleFiringDependencies) {
    this.outcomes = new RefusedFirings(dependencies.firings, dependencies.onError);
  }

  /** Accounts take turns. Rejects when the database is away. What fails for one schedule leaves the others alone. */
  async pass(): Promise<void> {
    const { firings, now: clock = firings.now.bind(firings) } = this.dependencies;
    const now = await clock();
    const wanted = { limit: mostPerPass, without: [...this.refused] };
    this.refused = new Set();
    await this.inTurn(await firings.due(now, wanted), (due) => this.stepIfAllowed(due, now));
    await this.inTurn(await firings.pending(now, wanted), (pending) => this.startIfAllowed(pending, now));
  }

  /** `work` resolves to what is to be done next of the item. That comes after the other items, if the pass is not full by then. */
  private async inTurn<Item>(items: readonly Item[], work: (item: Item) => Promise<Item | undefined>): Promise<void> {
    const line = [...items];
    let begun = 0;
    const workOn = async (): Promise<void> => {
      for (let item = line.shift(); item && begun < mostPerPass; item = line.shift()) {
        begun += 1;
        const more = await work(item).catch(this.dependencies.onError);
        if (more) line.push(more);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, workOn));
  }

  /** Resolves to the next due time of the schedule, if that has come too. */
  private async stepIfAllowed(due: DueSchedule, now: Date): Promise<DueSchedule | undefined> {
    if (!this.mayFire(due.accountId)) return undefined;
    const next = await this.step(due, now);
    return next !== null && next <= now ? { ...due, dueAt: next } : undefined;
  }

  private async startIfAllowed(pending: PendingExecution, now: Date): Promise<undefined> {
    if (this.mayFire(pending.accountId)) await this.startPending(pending, now);
  }

  /** A firing counts as a request. What is refused stays due. */
  private mayFire(account: AccountId): boolean {
    if (this.refused.has(account)) return false;
    try {
      this.dependencies.spendRequest(account);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.refused.add(account);
      return false;
    }
  }

  /** Resolves to the next due time; null when another gateway has taken the schedule. */
  private async step(due: DueSchedule, now: Date): Promise<Date | null> {
    const { cron, time_zone: zone, missed } = due.schedule;
    const step = firingStep({ times: toDueTimes(cron, zone), missed, dueAt: due.dueAt }, now);
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
    const request = toRequest(pending, now);
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
    this.dependencies.workSignal.announce();
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

const toRequest = ({ trigger, input, dueAt }: PendingExecution, now: Date): RunRequest =>
  'cron' in trigger ? runOfSchedule(trigger, dueAt ?? now) : runOfTrigger(trigger, input ?? '');
