import { exampleIds as ids } from './example-ids';

const at = '2026-11-25T09:00:00.000Z';
const secrets = [{ hint: '…k3Qz', created_at: at, expires_at: null }];
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const run = { input: 'Write the report. It was due at {{due_at}}.', model: 'openai/gpt-5' };

const schedule = {
  id: ids.schedule,
  name: 'morning report',
  cron: '0 9 * * 1-5',
  time_zone: 'Europe/Berlin',
  missed: 'once',
  overlap: 'skip',
  thread: 'new',
  thread_id: null,
  run: { ...run, metadata: {} },
  is_paused: false,
  next_fire_at: '2026-11-26T08:00:00.000Z',
  created_at: at,
  updated_at: at,
  next_fires: ['2026-11-26T08:00:00.000Z', '2026-11-27T08:00:00.000Z'],
};

const upcoming = {
  due_at: '2026-11-26T08:00:00.000Z',
  schedule_id: ids.schedule,
  schedule_name: 'morning report',
  time_zone: 'Europe/Berlin',
  agent_id: ids.agent,
};

const trigger = {
  id: ids.trigger,
  name: 'issues',
  signature: 'github',
  tolerance_s: 300,
  overlap: 'allow',
  thread: 'new',
  thread_id: null,
  run: { input: 'A new issue, as data: {{body.issue.title}}', metadata: {} },
  is_paused: false,
  secrets,
  created_at: at,
  updated_at: at,
};

const endpoint = {
  id: ids.endpoint,
  url: 'https://example.com/rondo',
  description: 'alerts',
  events: ['run.completed', 'run.failed', 'run.waiting'],
  is_paused: false,
  secrets,
  created_at: at,
  updated_at: at,
};

/** Of what starts runs, and of what is told about them. */
export const triggerExamples = {
  Schedule: schedule,
  NewSchedule: { name: 'morning report', cron: '0 9 * * 1-5', time_zone: 'Europe/Berlin', run },
  ScheduleChange: { cron: '30 8 * * 1-5' },
  UpcomingRun: upcoming,
  UpcomingRuns: { data: [upcoming, { ...upcoming, due_at: '2026-11-27T08:00:00.000Z' }] },
  DueTimes: { data: ['2026-11-26T08:00:00.000Z', '2026-11-27T08:00:00.000Z'] },
  Execution: {
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
    attempts: 1,
    next_attempt_at: null,
    created_at: '2026-11-25T08:00:00.200Z',
  },
  WebhookTrigger: trigger,
  WebhookTriggerWithSecret: { ...trigger, secret },
  WebhookTriggerChange: { is_paused: true },
  SecretRotation: { overlap_s: 86_400 },
  WebhookReceipt: { execution_id: ids.execution, status: 'started', reason: null, run_id: ids.run },
  WebhookEndpoint: endpoint,
  WebhookEndpointWithSecret: { ...endpoint, secret },
  WebhookDelivery: {
    id: ids.delivery,
    endpoint_id: ids.endpoint,
    event_id: ids.event,
    type: 'run.completed',
    run_id: ids.run,
    seq: 17,
    status: 'delivered',
    attempts: 1,
    next_attempt_at: null,
    response_status: 204,
    error: null,
    created_at: '2026-11-25T09:00:07.500Z',
    delivered_at: '2026-11-25T09:00:07.640Z',
  },
};
