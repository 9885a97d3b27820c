import { z } from 'zod';
import { agentId, threadId } from '../ids';
import { run } from '../run';
import {
  execution,
  missedPolicy,
  overlapPolicy,
  schedule,
  threadPolicy,
  triggerName,
  triggeredRun,
  upcomingRun,
} from '../trigger';
import { exampleIds as ids } from './example-ids';
import { metadata } from './metadata';
import { createPage, pageQuery } from './paging';
import type { ProblemCode } from './problem-codes';
import { type ApiSchemas, defineRoutes } from './route';

const newTriggeredRun = triggeredRun.extend({
  input: triggeredRun.shape.input.describe('May name `{{due_at}}`, `{{schedule.id}}` and `{{schedule.name}}`.'),
  metadata: metadata.default({}),
});

/** A cron expression and a time zone as texts: the gateway, which has the libraries, checks what they say. */
const cron = z.string().trim().max(200);
const timeZone = z.string().max(64);

const fields = {
  name: triggerName,
  cron: cron.describe('Minute, hour, day, month, weekday; six fields have seconds first.'),
  time_zone: timeZone,
  missed: missedPolicy,
  overlap: overlapPolicy,
  thread: threadPolicy,
  thread_id: threadId.nullable().describe('With `thread: "same"`: the thread of all runs. A new one when absent.'),
  run: newTriggeredRun,
  is_paused: z.boolean(),
};

export const newSchedule = z.strictObject({
  ...fields,
  time_zone: fields.time_zone.default('UTC'),
  missed: fields.missed.default('once'),
  overlap: fields.overlap.default('skip'),
  thread: fields.thread.default('new'),
  thread_id: fields.thread_id.default(null),
  is_paused: fields.is_paused.default(false),
});

export const scheduleChange = z.strictObject(fields).partial();

export const dueTimesQuery = z.strictObject({
  cron: fields.cron,
  time_zone: fields.time_zone.default('UTC'),
  count: z.coerce.number().int().min(1).max(100).default(10),
});

export const lastExecution = execution.nullable().describe('The newest one, if there was one in the last 30 days.');

const shownSchedule = schedule.extend({
  next_fires: z.array(z.iso.datetime()).describe('The next five due times, also of a paused schedule.'),
  last_execution: lastExecution,
});
const schedulePage = createPage(shownSchedule);
const upcomingRuns = z.object({ data: z.array(upcomingRun) });
const dueTimes = z.object({ data: z.array(z.iso.datetime()) });
export const executionPage = createPage(execution);

/** What a trigger is refused for when its runs could not begin. */
export const problemsOfTriggeredRuns = [
  'agent_not_found',
  'thread_not_found',
] as const satisfies readonly ProblemCode[];

export const schedules = defineRoutes('schedules', {
  createSchedule: {
    method: 'POST',
    path: '/v1/schedules',
    summary: 'Store a schedule, which starts runs at the times of a cron expression',
    audit: 'schedule.create',
    body: newSchedule,
    answers: { 201: { body: shownSchedule, location: '/v1/schedules/{id}' } },
    problems: [...problemsOfTriggeredRuns, 'too_many_triggers'],
  },
  listSchedules: {
    method: 'GET',
    path: '/v1/schedules',
    summary: 'List schedules, newest first',
    query: pageQuery.extend({ agent_id: agentId.optional().describe('Schedules whose runs name this agent.') }),
    answers: { 200: { body: schedulePage } },
  },
  listUpcomingRuns: {
    method: 'GET',
    path: '/v1/schedules/upcoming',
    summary: 'The next due times of all schedules that are not paused, in order',
    description: 'What the overlap policy or a full queue will skip then is not known before.',
    query: z.strictObject({
      agent_id: agentId.optional().describe('Of schedules whose runs name this agent.'),
      limit: z.coerce.number().int().min(1).max(100).default(20),
    }),
    answers: { 200: { body: upcomingRuns } },
  },
  previewDueTimes: {
    method: 'GET',
    path: '/v1/due-times',
    summary: 'The next due times of a cron expression in a time zone',
    query: dueTimesQuery,
    queryExample: { cron: '0 9 * * 1-5' },
    answers: { 200: { body: dueTimes } },
  },
  getSchedule: {
    method: 'GET',
    path: '/v1/schedules/{schedule_id}',
    summary: 'Read a schedule, with its next due times',
    answers: { 200: { body: shownSchedule } },
  },
  updateSchedule: {
    method: 'PATCH',
    path: '/v1/schedules/{schedule_id}',
    summary: 'Change a schedule',
    description: 'Another cron expression or time zone counts from now. `run` replaces the whole one.',
    audit: 'schedule.change',
    body: scheduleChange,
    answers: { 200: { body: shownSchedule } },
    problems: problemsOfTriggeredRuns,
  },
  deleteSchedule: {
    method: 'DELETE',
    path: '/v1/schedules/{schedule_id}',
    summary: 'Delete a schedule with its executions; its runs stay',
    audit: 'schedule.delete',
    answers: { 204: {} },
  },
  pauseSchedule: {
    method: 'POST',
    path: '/v1/schedules/{schedule_id}/pause',
    summary: 'Pause a schedule; idempotent',
    audit: 'schedule.pause',
    answers: { 200: { body: shownSchedule } },
  },
  resumeSchedule: {
    method: 'POST',
    path: '/v1/schedules/{schedule_id}/resume',
    summary: 'End the pause; idempotent',
    description: 'Due times of the pause are not made up for.',
    audit: 'schedule.resume',
    answers: { 200: { body: shownSchedule } },
  },
  runSchedule: {
    method: 'POST',
    path: '/v1/schedules/{schedule_id}/run',
    summary: 'Start a run of the schedule now',
    description: 'Also while it is paused or another run is unfinished.',
    audit: 'schedule.run',
    answers: { 202: { body: run, location: '/v1/runs/{id}' } },
    problems: [
      ...problemsOfTriggeredRuns,
      'balance_exhausted',
      'model_not_allowed',
      'quota_exceeded',
      'thread_busy',
      'thread_full',
      'too_many_active_runs',
    ],
  },
  listScheduleExecutions: {
    method: 'GET',
    path: '/v1/schedules/{schedule_id}/executions',
    summary: 'What became of the due times of a schedule, newest first',
    description: 'Kept for 30 days.',
    query: pageQuery,
    answers: { 200: { body: executionPage } },
  },
});

const at = '2026-11-25T09:00:00.000Z';
const exampleExecution = {
  id: ids.execution,
  status: 'started',
  reason: null,
  error: null,
  due_at: '2026-11-25T08:00:00.000Z',
  due_through: null,
  webhook_id: null,
  fired_at: '2026-11-25T08:00:00.210Z',
  run_id: ids.run,
  run_status: 'completed',
  run_finish_reason: 'stop',
  attempts: 1,
  next_attempt_at: null,
  created_at: '2026-11-25T08:00:00.200Z',
};
const exampleRun = { input: 'Write the report. It was due at {{due_at}}.', model: 'openai/gpt-5' };
const exampleUpcoming = {
  due_at: '2026-11-26T08:00:00.000Z',
  schedule_id: ids.schedule,
  schedule_name: 'morning report',
  time_zone: 'Europe/Berlin',
  agent_id: ids.agent,
};

export const scheduleSchemas: ApiSchemas = {
  shared: { MissedPolicy: missedPolicy, OverlapPolicy: overlapPolicy, ThreadPolicy: threadPolicy },
  requests: { NewSchedule: newSchedule, ScheduleChange: scheduleChange, NewTriggeredRun: newTriggeredRun },
  answers: {
    Schedule: shownSchedule,
    SchedulePage: schedulePage,
    UpcomingRun: upcomingRun,
    UpcomingRuns: upcomingRuns,
    DueTimes: dueTimes,
    Execution: execution,
    ExecutionPage: executionPage,
    TriggeredRun: triggeredRun,
  },
  examples: {
    Schedule: {
      id: ids.schedule,
      name: 'morning report',
      cron: '0 9 * * 1-5',
      time_zone: 'Europe/Berlin',
      missed: 'once',
      overlap: 'skip',
      thread: 'new',
      thread_id: null,
      run: { ...exampleRun, metadata: {} },
      is_paused: false,
      next_fire_at: '2026-11-26T08:00:00.000Z',
      created_at: at,
      updated_at: at,
      last_execution: exampleExecution,
      next_fires: ['2026-11-26T08:00:00.000Z', '2026-11-27T08:00:00.000Z'],
    },
    NewSchedule: { name: 'morning report', cron: '0 9 * * 1-5', time_zone: 'Europe/Berlin', run: exampleRun },
    ScheduleChange: { cron: '30 8 * * 1-5' },
    UpcomingRun: exampleUpcoming,
    UpcomingRuns: { data: [exampleUpcoming, { ...exampleUpcoming, due_at: '2026-11-27T08:00:00.000Z' }] },
    DueTimes: { data: ['2026-11-26T08:00:00.000Z', '2026-11-27T08:00:00.000Z'] },
    Execution: exampleExecution,
  },
};
