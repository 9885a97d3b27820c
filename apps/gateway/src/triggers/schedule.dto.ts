import {
  agentId,
  execution,
  missedPolicy,
  overlapPolicy,
  schedule,
  threadId,
  threadPolicy,
  triggerName,
  triggeredRun,
  upcomingRun,
} from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { metadata } from '../http/metadata';
import { pageOf, pageQuery } from '../http/paging';
import { cronExpression, timeZone } from './cron-times';

export const newTriggeredRun = triggeredRun.extend({
  input: triggeredRun.shape.input.describe('May name `{{due_at}}`, `{{schedule.id}}` and `{{schedule.name}}`.'),
  metadata: metadata.default({}),
});

const fields = {
  name: triggerName,
  cron: cronExpression.describe('Minute, hour, day, month, weekday; six fields have seconds first.'),
  time_zone: timeZone,
  missed: missedPolicy,
  overlap: overlapPolicy,
  thread: threadPolicy,
  thread_id: threadId.nullable().describe('With `thread: "same"`: the thread of all runs. A new one when absent.'),
  run: newTriggeredRun,
  is_paused: z.boolean(),
};

export const newSchedule = z
  .strictObject({
    ...fields,
    time_zone: fields.time_zone.default('UTC'),
    missed: fields.missed.default('once'),
    overlap: fields.overlap.default('skip'),
    thread: fields.thread.default('new'),
    thread_id: fields.thread_id.default(null),
    is_paused: fields.is_paused.default(false),
  })
  .meta({
    examples: [
      {
        name: 'morning report',
        cron: '0 9 * * 1-5',
        time_zone: 'Europe/Berlin',
        missed: 'once',
        overlap: 'skip',
        run: { input: 'Write the report for {{due_at}}.', budget: { usd: 1 } },
      },
    ],
  });

const shownSchedule = schedule.extend({
  next_fires: z.array(z.iso.datetime()).describe('The next five due times, also of a paused schedule.'),
});

const preview = z.strictObject({
  cron: fields.cron,
  time_zone: fields.time_zone.default('UTC'),
  count: z.coerce.number().int().min(1).max(100).default(10),
});

export class NewScheduleDto extends createZodDto(newSchedule) {}
export class ScheduleChangeDto extends createZodDto(z.strictObject(fields).partial()) {}
export class ScheduleDto extends createZodDto(shownSchedule) {}
export class SchedulePageDto extends createZodDto(pageOf(shownSchedule)) {}
export class ScheduleQueryDto extends createZodDto(
  pageQuery.extend({ agent_id: agentId.optional().describe('Schedules whose runs name this agent.') }),
) {}
export class UpcomingRunsQueryDto extends createZodDto(
  z.strictObject({
    agent_id: agentId.optional().describe('Of schedules whose runs name this agent.'),
    limit: z.coerce.number().int().min(1).max(100).default(20),
  }),
) {}
export class UpcomingRunsDto extends createZodDto(z.object({ data: z.array(upcomingRun) })) {}
export class DueTimesQueryDto extends createZodDto(preview) {}
export class DueTimesDto extends createZodDto(z.object({ data: z.array(z.iso.datetime()) })) {}
export class ExecutionPageDto extends createZodDto(pageOf(execution)) {}
export class ExecutionQueryDto extends createZodDto(pageQuery) {}
