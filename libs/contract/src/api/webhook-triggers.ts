import { z } from 'zod';
import { agentId, threadId } from '../ids';
import {
  execution,
  overlapPolicy,
  secretHint,
  signatureScheme,
  threadPolicy,
  triggerName,
  triggeredRun,
  webhookTrigger,
} from '../trigger';
import { exampleIds as ids } from './example-ids';
import { metadata } from './metadata';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';
import { executionPage, lastExecution, problemsOfTriggeredRuns } from './schedules';

const maxOverlapS = 7 * 24 * 3600;

const webhookRun = triggeredRun.extend({
  input: triggeredRun.shape.input.describe(
    'May name `{{body.path.to.field}}`, `{{body}}`, `{{webhook_id}}`, `{{received_at}}`, `{{trigger.id}}` and `{{trigger.name}}`.',
  ),
  metadata: metadata.default({}),
});

const fields = {
  name: triggerName,
  signature: signatureScheme.describe('`standard`: the headers of Standard Webhooks. `github`: `X-Hub-Signature-256`.'),
  tolerance_s: z.number().int().min(1).max(3600).describe('How old or how far ahead a `standard` request may be.'),
  overlap: overlapPolicy,
  thread: threadPolicy,
  thread_id: threadId.nullable().describe('With `thread: "same"`: the thread of all runs. A new one when absent.'),
  run: webhookRun,
  is_paused: z.boolean(),
};

const newWebhookTrigger = z
  .strictObject({
    ...fields,
    signature: fields.signature.default('standard'),
    tolerance_s: fields.tolerance_s.default(300),
    overlap: fields.overlap.default('allow'),
    thread: fields.thread.default('new'),
    thread_id: fields.thread_id.default(null),
    is_paused: fields.is_paused.default(false),
  })
  .meta({
    examples: [
      {
        name: 'issues',
        signature: 'github',
        run: { input: 'A new issue, as data: {{body.issue.title}}\n\n{{body.issue.body}}', budget: { usd: 1 } },
      },
    ],
  });

const webhookTriggerChange = z.strictObject(fields).partial();

/** A new secret of a trigger, or of an endpoint that webhooks are sent to. */
export const secretRotation = z.strictObject({
  overlap_s: z
    .number()
    .int()
    .min(0)
    .max(maxOverlapS)
    .default(86_400)
    .describe('How long the former secret is accepted, too.'),
});

const shownTrigger = webhookTrigger.extend({ last_execution: lastExecution });
const webhookTriggerWithSecret = shownTrigger.extend({ secret: z.string().describe('Shown this once.') });
const webhookTriggerPage = createPage(shownTrigger);
const webhookReceipt = z.object({
  execution_id: execution.shape.id,
  status: execution.shape.status,
  reason: execution.shape.reason,
  run_id: execution.shape.run_id,
});

export const webhookTriggers = defineRoutes('webhook triggers', {
  createTrigger: {
    method: 'POST',
    path: '/v1/triggers',
    summary: 'Store a trigger, whose signed webhooks start runs',
    description: 'The sender posts to `/v1/hooks/{id}`. The secret is in this response, and in no other.',
    audit: 'trigger.create',
    storesAnswer: false,
    body: newWebhookTrigger,
    answers: { 201: { body: webhookTriggerWithSecret, location: '/v1/triggers/{id}' } },
    problems: [...problemsOfTriggeredRuns, 'too_many_triggers'],
  },
  listTriggers: {
    method: 'GET',
    path: '/v1/triggers',
    summary: 'List triggers, newest first',
    query: pageQuery.extend({ agent_id: agentId.optional().describe('Triggers whose runs name this agent.') }),
    answers: { 200: { body: webhookTriggerPage } },
  },
  getTrigger: {
    method: 'GET',
    path: '/v1/triggers/{trigger_id}',
    summary: 'Read a trigger',
    answers: { 200: { body: shownTrigger } },
  },
  updateTrigger: {
    method: 'PATCH',
    path: '/v1/triggers/{trigger_id}',
    summary: 'Change a trigger',
    description: '`run` replaces the whole one.',
    audit: 'trigger.change',
    body: webhookTriggerChange,
    answers: { 200: { body: shownTrigger } },
    problems: problemsOfTriggeredRuns,
  },
  deleteTrigger: {
    method: 'DELETE',
    path: '/v1/triggers/{trigger_id}',
    summary: 'Delete a trigger with its executions; its runs stay',
    audit: 'trigger.delete',
    answers: { 204: {} },
  },
  rotateTriggerSecret: {
    method: 'POST',
    path: '/v1/triggers/{trigger_id}/rotate-secret',
    summary: 'Make a new secret',
    description: 'The newest former one is accepted for `overlap_s`, older ones no more.',
    audit: 'trigger.rotate_secret',
    storesAnswer: false,
    body: secretRotation,
    answers: { 200: { body: webhookTriggerWithSecret } },
  },
  listTriggerExecutions: {
    method: 'GET',
    path: '/v1/triggers/{trigger_id}/executions',
    summary: 'What became of the webhooks of a trigger, newest first',
    description: 'Kept for 30 days.',
    query: pageQuery,
    answers: { 200: { body: executionPage } },
  },
  receiveWebhook: {
    method: 'POST',
    path: '/v1/hooks/{trigger_id}',
    summary: 'Receive a signed webhook, which starts a run',
    description: 'Needs no API key. The same webhook again gets the run that it has started.',
    role: 'open',
    params: {
      trigger_id: {
        schema: z.string(), // an unknown one gets the answer of a wrong signature
        property: 'triggerId',
        example: ids.trigger,
        unknown: { noun: 'trigger', code: 'unauthorized' },
      },
    },
    rawBody: {
      'application/json': {
        schema: { type: 'object' },
        examples: { issue: { value: { action: 'opened', issue: { number: 7, title: 'The report is empty' } } } },
      },
    },
    answers: { 202: { body: webhookReceipt } },
    problems: [
      'trigger_paused',
      'malformed_json',
      'payload_too_large',
      'unsupported_media_type',
      'too_many_bytes_in_flight',
    ],
  },
});

const at = '2026-11-25T09:00:00.000Z';
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
  last_execution: null,
  secrets: [{ hint: '…k3Qz', created_at: at, expires_at: null }],
  created_at: at,
  updated_at: at,
};

export const webhookTriggerSchemas: ApiSchemas = {
  shared: { SignatureScheme: signatureScheme },
  requests: {
    NewWebhookTrigger: newWebhookTrigger,
    WebhookTriggerChange: webhookTriggerChange,
    SecretRotation: secretRotation,
    WebhookRun: webhookRun,
  },
  answers: {
    WebhookTrigger: shownTrigger,
    WebhookTriggerWithSecret: webhookTriggerWithSecret,
    WebhookTriggerPage: webhookTriggerPage,
    WebhookReceipt: webhookReceipt,
    SecretHint: secretHint,
  },
  examples: {
    WebhookTrigger: trigger,
    WebhookTriggerWithSecret: { ...trigger, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    WebhookTriggerChange: { is_paused: true },
    SecretRotation: { overlap_s: 86_400 },
    WebhookReceipt: { execution_id: ids.execution, status: 'started', reason: null, run_id: ids.run },
  },
};
