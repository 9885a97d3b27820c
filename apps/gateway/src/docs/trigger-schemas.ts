import * as contract from '@rondo/contract';
import * as schedules from '../triggers/schedule.dto';

/** What starts runs by itself, as `named-schemas.ts` has it. */
export const triggerSchemas = {
  shared: {
    MissedPolicy: contract.missedPolicy,
    OverlapPolicy: contract.overlapPolicy,
    ThreadPolicy: contract.threadPolicy,
  },
  responses: {
    Schedule: schedules.ScheduleDto.schema,
    SchedulePage: schedules.SchedulePageDto.schema,
    DueTimes: schedules.DueTimesDto.schema,
    Execution: contract.execution,
    ExecutionPage: schedules.ExecutionPageDto.schema,
    TriggeredRun: contract.triggeredRun,
  },
  requests: {
    NewSchedule: schedules.NewScheduleDto.schema,
    ScheduleChange: schedules.ScheduleChangeDto.schema,
    NewTriggeredRun: schedules.newTriggeredRun,
  },
};
