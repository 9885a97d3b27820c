import { type AccountId, type Schedule, type UpcomingRun, runId } from '@rondo/contract';
import { type UpcomingFiring, upcomingFirings } from '@rondo/domain';
import type {
  ActiveSchedule,
  TriggersOfAgent,
  Firings,
  NextFireAt,
  PendingKey,
  ScheduleAddress,
  ScheduleFields,
  Schedules,
} from '@rondo/persistence';
import type { RunService } from '../runs/run-service';
import { dueTimesOf } from './cron-times';
import { runOfSchedule, scheduleRoots } from './run-request';
import { type TriggerRules, changedFields } from './trigger-rules';

export interface ScheduleServiceDependencies {
  readonly schedules: Schedules;
  readonly firings: Firings;
  readonly rules: TriggerRules;
  readonly runService: Pick<RunService, 'create'>;
  readonly newId: () => string;
}

const shownFires = 5;

export type ShownSchedule = Schedule & { readonly next_fires: readonly string[] };
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
    const promisedShown = promised && { ...promised, answer: (made: Schedule) => promised.answer(shown(made)) };
    return shown(await this.dependencies.schedules.create({ accountId, fields, promised: promisedShown }, nextFireAt));
  }

  async get(address: ScheduleAddress): Promise<ShownSchedule> {
    return shown(await this.dependencies.schedules.get(address));
  }

  async list(request: Parameters<Schedules['list']>[0]) {
    const page = await this.dependencies.schedules.list(request);
    return { ...page, data: page.data.map(shown) };
  }

  /** The next firings of the schedules that are not paused, in order. */
  async upcoming(wanted: TriggersOfAgent, count: number): Promise<UpcomingRun[]> {
    const now = await this.dependencies.firings.now();
    const schedules = await this.dependencies.schedules.active(wanted);
    const sources = schedules.map((schedule) => ({
      ...schedule,
      dueAt: schedule.nextFireAt,
      times: () => dueTimesOf(schedule.cron, schedule.time_zone),
    }));
    return upcomingFirings(sources, now, count).map(upcomingRun);
  }

  async update(address: ScheduleAddress, changes: ScheduleChanges): Promise<ShownSchedule> {
    const known = await this.dependencies.schedules.get(address);
    await this.requireValid(address.accountId, changedFields<ScheduleFields>(known, changes));
    return shown(await this.dependencies.schedules.update({ ...address, fields: changes }, nextFireAt));
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

  private requireValid(accountId: AccountId, fields: ScheduleFields): Promise<void> {
    return this.dependencies.rules.require({ accountId, fields, roots: scheduleRoots });
  }
}

const nextFireAt: NextFireAt = ({ cron, time_zone: zone }, now) => dueTimesOf(cron, zone).next(now) ?? null;

const upcomingRun = ({ source, at }: UpcomingFiring<ActiveSchedule>): UpcomingRun => ({
  due_at: at.toISOString(),
  schedule_id: source.id,
  schedule_name: source.name,
  time_zone: source.time_zone,
  agent_id: source.agentId,
});

const shown = (schedule: Schedule): ShownSchedule => {
  const from = schedule.next_fire_at === null ? new Date() : new Date(Date.parse(schedule.next_fire_at) - 1);
  return { ...schedule, next_fires: dueTimesAfter(schedule, from, shownFires) };
};

export function dueTimesAfter(
  { cron, time_zone: zone }: Pick<Schedule, 'cron' | 'time_zone'>,
  from: Date,
  count: number,
): string[] {
  const times = dueTimesOf(cron, zone);
  const found: string[] = [];
  for (let at = times.next(from); at && found.length < count; at = times.next(at)) found.push(at.toISOString());
  return found;
}
