import { Controller } from '@nestjs/common';
import { dueTimesQuery, newSchedule, scheduleChange, schedules } from '@rondo/contract/api';
import { Executions, Schedules } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { cronExpression, toDueTimes, firstDueTimes, timeZone } from './cron-times';
import { ScheduleService } from './schedule-service';

const checked = { cron: cronExpression, time_zone: timeZone };
const checkedWithDefault = { cron: cronExpression, time_zone: timeZone.default('UTC') };

@Controller()
export class SchedulesController {
  constructor(
    private readonly service: ScheduleService,
    private readonly schedules: Schedules,
    private readonly executions: Executions,
  ) {}

  @Route(schedules.createSchedule, { body: newSchedule.extend(checkedWithDefault) })
  createSchedule({ address, body, promised }: RouteInput<typeof schedules.createSchedule>) {
    return this.service.create(address.accountId, body, promised);
  }

  @Route(schedules.listSchedules)
  listSchedules({ address, query }: RouteInput<typeof schedules.listSchedules>) {
    const { agent_id: agentId, ...page } = query;
    return this.service.list({ ...address, agentId, ...page });
  }

  @Route(schedules.listUpcomingRuns)
  async listUpcomingRuns({ address, query }: RouteInput<typeof schedules.listUpcomingRuns>) {
    return { data: await this.service.upcoming({ ...address, agentId: query.agent_id }, query.limit) };
  }

  @Route(schedules.previewDueTimes, { query: dueTimesQuery.extend(checkedWithDefault) })
  previewDueTimes({ query }: RouteInput<typeof schedules.previewDueTimes>) {
    const times = firstDueTimes(toDueTimes(query.cron, query.time_zone), new Date(), query.count);
    return { data: times.map((at) => at.toISOString()) };
  }

  @Route(schedules.getSchedule)
  getSchedule({ address }: RouteInput<typeof schedules.getSchedule>) {
    return this.service.get(address);
  }

  @Route(schedules.updateSchedule, { body: scheduleChange.extend(checked).partial() })
  updateSchedule({ address, body }: RouteInput<typeof schedules.updateSchedule>) {
    return this.service.update(address, body);
  }

  @Route(schedules.deleteSchedule)
  deleteSchedule({ address }: RouteInput<typeof schedules.deleteSchedule>) {
    return this.schedules.delete(address);
  }

  @Route(schedules.pauseSchedule)
  pauseSchedule({ address }: RouteInput<typeof schedules.pauseSchedule>) {
    return this.service.update(address, { is_paused: true });
  }

  @Route(schedules.resumeSchedule)
  resumeSchedule({ address }: RouteInput<typeof schedules.resumeSchedule>) {
    return this.service.update(address, { is_paused: false });
  }

  @Route(schedules.runSchedule)
  runSchedule({ address, promised, caller }: RouteInput<typeof schedules.runSchedule>) {
    return this.service.runNow(address, { promised, createdBy: caller.keyId });
  }

  @Route(schedules.listScheduleExecutions)
  async listScheduleExecutions({ address, query }: RouteInput<typeof schedules.listScheduleExecutions>) {
    const { id } = await this.schedules.get(address);
    return this.executions.list(id, query);
  }
}
