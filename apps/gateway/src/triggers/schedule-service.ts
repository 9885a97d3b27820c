import { setImmediate } from 'node:timers/promises';
import { type AccountId, type UpcomingRun, runId } from '@rondo/contract';
import { type DueTimes, type UpcomingFiring, upcomingFirings } from '@rondo/domain';
import type {
  ActiveSchedule,
  TriggersOfAgent,
  Firings,
  NextFires,
  PendingKey,
  ScheduleAddress,
  ScheduleFields,
  Schedules,
  StoredSchedule,
} from '@rondo/persistence';
import type { AccountQuotas } from '../billing/account-quotas';
import { refuseField } from '../problems/api-error';
import type { RunService } from '../runs/run-service';
import { toDueTimes, firstDueTimes, readLeastInterval } from './cron-times';
import { runOfSchedule, scheduleRoots } from './run-request';
import { type TriggerRules, changeFields, startsOtherRuns, withinThreads } from './trigger-rules';

export interface ScheduleServiceDependencies {
  readonly schedules: Schedules;
  readonly firings: Firings;
  readonly rules: TriggerRules;
  readonly quotas: Pick<AccountQuotas, 'within'>;
  readonly runService: Pick<RunService, 'create'>;
  readonly newId: () => string;
  /** Between two due times of a schedule of the account, in seconds. */
  readonly leastIntervalS: (account: AccountId) => Promise<number>;
}

export type ShownSchedule = StoredSchedule;
export type ScheduleChanges = { readonly [Name in keyof ScheduleFields]?: ScheduleFields[Name] | undefined };

/** Schedules as the API shows and changes them. One whose runs could not begin is refused when it is stored. */
export class ScheduleService {
  constructor(private readonly dependencies: ScheduleServiceDependencies) {}

  async create(
    accountId: AccountId,
    fields: ScheduleFields,
    promised?: PendingKey<ShownSchedule>,
  ): Promise<ShownSchedule> {
    await this.requireValid(accountId, fields);
    await this.requireInterval(accountId, fields.cron);
    const promisedShown = promised && {
      ...promised,
      answer: (made: StoredSchedule) => promised.answer(toShownSchedule(made)),
    };
    const { quotas, schedules } = this.dependencies;
    const made = await withinThreads(quotas, { accountId, fields }, (bounds) =>
      schedules.create({ accountId, fields, promised: promisedShown, bounds }, nextFires),
    );
    return toShownSchedule(made);
  }

  async get(address: ScheduleAddress): Promise<ShownSchedule> {
    return toShownSchedule(await this.dependencies.schedules.get(address));
  }

  async list(request: Parameters<Schedules['list']>[0]) {
    const page = await this.dependencies.schedules.list(request);
    const nextTurn = turns();
    const data: ShownSchedule[] = [];
    for (const schedule of page.data) {
      await nextTurn();
      data.push(toShownSchedule(schedule));
    }
    return { ...page, data };
  }

  /** The next firings of the schedules that are not paused, in order. */
  async upcoming(wanted: TriggersOfAgent, count: number): Promise<UpcomingRun[]> {
    const now = await this.dependencies.firings.now();
    const schedules = await this.dependencies.schedules.active(wanted);
    const sources = schedules.map((schedule) => ({
      ...schedule,
      dueAt: schedule.nextFireAt,
      times: dueTimesFrom(schedule),
    }));
    return (await upcomingFirings(sources, now, { count, nextTurn: turns() })).map(upcomingRun);
  }

  async update(address: ScheduleAddress, changes: ScheduleChanges): Promise<ShownSchedule> {
    const { quotas, schedules } = this.dependencies;
    const { accountId } = address;
    const known = await schedules.get(address);
    const fields = changeFields<ScheduleFields>(known, changes);
    if (startsOtherRuns(changes)) await this.requireValid(accountId, fields);
    if (changes.cron !== undefined && changes.cron !== known.cron) {
      await this.requireInterval(accountId, changes.cron);
    }
    const changed = await withinThreads(quotas, { accountId, fields }, (bounds) =>
      schedules.update({ ...address, fields: changes, bounds }, nextFires),
    );
    return toShownSchedule(changed);
  }

  /** A run at once, also of a paused schedule and beside an unfinished one. */
  async runNow(address: ScheduleAddress, promised: Parameters<RunService['create']>[2]) {
    const { firings, runService, newId } = this.dependencies;
    const schedule = await this.dependencies.schedules.get(address);
    const id = runId.parse(`run_${newId()}`);
    const request = runOfSchedule(schedule, await firings.now());
    const { run } = await runService.create(address.accountId, request, {
      ...promised,
      id,
      alongside: firings.fireNow(schedule, id),
    });
    return run;
  }

  private async requireInterval(accountId: AccountId, cron: string): Promise<void> {
    const [interval, least] = [readLeastInterval(cron), await this.dependencies.leastIntervalS(accountId)];
    if (interval >= least) return;
    throw refuseField(
      'cron',
      `names times ${interval} s apart; schedules of this account fire at least ${least} s apart`,
    );
  }

  private requireValid(accountId: AccountId, fields: ScheduleFields): Promise<void> {
    return this.dependencies.rules.require({ accountId, fields, roots: scheduleRoots });
  }
}

/** How many due times are stored with a schedule, and shown. */
const shownFires = 5;

/** The due times that are stored with a schedule: the first ones after an instant. */
export const nextFires: NextFires = ({ cron, time_zone: zone }, after) =>
  firstDueTimes(toDueTimes(cron, zone), after, shownFires);

const upcomingRun = ({ source, at }: UpcomingFiring<ActiveSchedule>): UpcomingRun => ({
  due_at: at.toISOString(),
  schedule_id: source.id,
  schedule_name: source.name,
  time_zone: source.time_zone,
  agent_id: source.agentId,
});

/** Computes the due times only where they are not known: those of a pause pass, and an earlier version stored none. */
function toShownSchedule(schedule: StoredSchedule): ShownSchedule {
  const {
    is_paused: isPaused,
    next_fire_at: next,
    next_fires: [first],
  } = schedule;
  const now = new Date();
  if (first !== undefined && (!isPaused || Date.parse(first) > now.getTime())) return schedule;
  const after = next === null ? now : new Date(Date.parse(next) - 1);
  return { ...schedule, next_fires: nextFires(schedule, after).map((at) => at.toISOString()) };
}

/** The due times of a schedule: stored ones, as far as they reach, and then computed ones. */
function dueTimesFrom({ cron, time_zone: zone, nextFires: stored }: ActiveSchedule): DueTimes {
  let computed: DueTimes | undefined;
  return {
    next: (after) => {
      const known = stored.findIndex((at) => at.getTime() === after.getTime());
      return (known >= 0 && stored[known + 1]) || (computed ??= toDueTimes(cron, zone)).next(after);
    },
  };
}

const longestTurnMs = 5;

/** To be awaited often in a long computation: lets other requests use the thread when it was held for long. */
function turns(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < longestTurnMs) return;
    await setImmediate();
    since = performance.now();
  };
}
