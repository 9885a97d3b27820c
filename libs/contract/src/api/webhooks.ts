import { z } from 'zod';
import { runId, webhookEndpointId } from '../ids';
import {
  webhookBody,
  webhookDelivery,
  webhookDeliveryStatus,
  webhookEndpoint,
  webhookEventType,
  webhookFactType,
} from '../webhook';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';
import { secretRotation } from './webhook-triggers';

const fields = {
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .describe('An `https` URL at a public address. Others need WEBHOOK_INTERNAL_HOSTS.'),
  description: z.string().max(500),
  events: z
    .array(webhookFactType)
    .min(1)
    .max(webhookFactType.options.length)
    .refine((types) => new Set(types).size === types.length, 'names an event twice')
    .describe('Which facts of runs are sent.'),
  is_paused: z
    .boolean()
    .describe('Nothing is sent, and what was pending is given up. Events of a pause are not made up for.'),
};

const newWebhookEndpoint = z
  .strictObject({
    ...fields,
    description: fields.description.default(''),
    is_paused: fields.is_paused.default(false),
  })
  .meta({
    examples: [
      {
        url: 'https://example.com/rondo',
        events: ['run.completed', 'run.failed', 'run.waiting'],
        description: 'alerts',
      },
      { url: 'https://billing.example.com/usage', events: ['usage.recorded'] },
    ],
  });

const webhookEndpointChange = z
  .strictObject(fields)
  .partial()
  .meta({ examples: [{ is_paused: true }] });

const webhookEndpointWithSecret = webhookEndpoint.extend({ secret: z.string().describe('Shown this once.') });
const webhookEndpointPage = createPage(webhookEndpoint);
const webhookDeliveryPage = createPage(webhookDelivery);

export const webhooks = defineRoutes('webhooks', {
  createWebhookEndpoint: {
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Store an endpoint, which events of runs are sent to',
    description:
      'Signed as Standard Webhooks describe, at least once. The secret is in this response, and in no other.',
    audit: 'webhook.create',
    storesAnswer: false,
    body: newWebhookEndpoint,
    answers: { 201: { body: webhookEndpointWithSecret, location: '/v1/webhooks/{id}' } },
    problems: ['too_many_webhook_endpoints'],
  },
  listWebhookEndpoints: {
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'List endpoints, newest first',
    query: pageQuery,
    answers: { 200: { body: webhookEndpointPage } },
  },
  getWebhookEndpoint: {
    method: 'GET',
    path: '/v1/webhooks/{endpoint_id}',
    summary: 'Read an endpoint',
    answers: { 200: { body: webhookEndpoint } },
  },
  updateWebhookEndpoint: {
    method: 'PATCH',
    path: '/v1/webhooks/{endpoint_id}',
    summary: 'Change an endpoint',
    audit: 'webhook.change',
    body: webhookEndpointChange,
    answers: { 200: { body: webhookEndpoint } },
  },
  deleteWebhookEndpoint: {
    method: 'DELETE',
    path: '/v1/webhooks/{endpoint_id}',
    summary: 'Delete an endpoint with its deliveries',
    audit: 'webhook.delete',
    answers: { 204: {} },
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/rotate-secret',
    summary: 'Make a new secret',
    description:
      'For `overlap_s` each request has two signatures: one of the new secret and one of the newest former one.',
    audit: 'webhook.rotate_secret',
    storesAnswer: false,
    body: secretRotation,
    answers: { 200: { body: webhookEndpointWithSecret } },
  },
  testWebhookEndpoint: {
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/test',
    summary: 'Send the event `webhook.test` to an endpoint',
    description: 'It is delivered like any other.',
    audit: 'webhook.test',
    answers: { 202: { body: webhookDelivery } },
  },
  listWebhookDeliveries: {
    method: 'GET',
    path: '/v1/webhooks/deliveries',
    summary: 'What became of the events that were sent, newest first',
    description: 'Kept for 30 days. `status=dead` lists what was given up.',
    query: pageQuery.extend({
      status: webhookDeliveryStatus.optional().describe('`dead`: what was given up.'),
      endpoint_id: webhookEndpointId.optional(),
      run_id: runId.optional(),
      type: webhookEventType.optional(),
    }),
    answers: { 200: { body: webhookDeliveryPage } },
  },
  getWebhookDelivery: {
    method: 'GET',
    path: '/v1/webhooks/deliveries/{delivery_id}',
    summary: 'Read a delivery',
    answers: { 200: { body: webhookDelivery } },
  },
  redeliverWebhook: {
    method: 'POST',
    path: '/v1/webhooks/deliveries/{delivery_id}/redeliver',
    summary: 'Send an event again',
    description: 'Under the same `webhook-id`, delivered or not. Its attempts begin anew.',
    audit: 'webhook.redeliver',
    answers: { 202: { body: webhookDelivery } },
    problems: ['webhook_endpoint_paused'],
  },
});

const at = '2026-11-25T09:00:00.000Z';
const delivery = {
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
};
const endpoint = {
  id: ids.endpoint,
  url: 'https://example.com/rondo',
  description: 'alerts',
  events: ['run.completed', 'run.failed', 'run.waiting'],
  is_paused: false,
  secrets: [{ hint: '…k3Qz', created_at: at, expires_at: null }],
  last_delivery: delivery,
  created_at: at,
  updated_at: at,
};

export const webhookSchemas: ApiSchemas = {
  shared: {
    WebhookFactType: webhookFactType,
    WebhookEventType: webhookEventType,
    WebhookDeliveryStatus: webhookDeliveryStatus,
  },
  requests: { NewWebhookEndpoint: newWebhookEndpoint, WebhookEndpointChange: webhookEndpointChange },
  answers: {
    WebhookEndpoint: webhookEndpoint,
    WebhookEndpointWithSecret: webhookEndpointWithSecret,
    WebhookEndpointPage: webhookEndpointPage,
    WebhookDelivery: webhookDelivery,
    WebhookDeliveryPage: webhookDeliveryPage,
    WebhookBody: webhookBody,
  },
  examples: {
    WebhookEndpoint: endpoint,
    WebhookEndpointWithSecret: { ...endpoint, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    WebhookDelivery: delivery,
  },
};
