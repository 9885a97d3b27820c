import { z } from 'zod';
import { accountId, agentId, eventId, runId, webhookDeliveryId, webhookEndpointId } from './ids';
import type { FactType } from './run-event';
import { secretHint } from './trigger';

/** The facts of runs that an endpoint can choose. A trigger in Postgres has the same list. */
export const webhookFactTypes = [
  'run.started',
  'run.waiting',
  'run.resumed',
  'run.completed',
  'run.failed',
  'run.stopped',
  'approval.requested',
  'approval.decided',
  'usage.recorded',
] as const satisfies readonly FactType[];

export const webhookFactType = z.enum(webhookFactTypes);
export type WebhookFactType = z.infer<typeof webhookFactType>;

/** `webhook.test` is sent on request only, to an endpoint whatever it has chosen. */
export const webhookEventType = z.enum([...webhookFactTypes, 'webhook.test']);
export type WebhookEventType = z.infer<typeof webhookEventType>;

/** `pending`: not delivered yet. `dead`: given up, and sent again only on request. */
export const webhookDeliveryStatus = z.enum(['pending', 'delivered', 'dead']);
export type WebhookDeliveryStatus = z.infer<typeof webhookDeliveryStatus>;

/** One event on its way to one endpoint. */
export const webhookDelivery = z.object({
  id: webhookDeliveryId,
  endpoint_id: webhookEndpointId,
  /** What is sent as `webhook-id`: the id of the fact, the same in every attempt and for every endpoint. */
  event_id: eventId,
  type: webhookEventType,
  /** Null for `webhook.test`. */
  run_id: runId.nullable(),
  /** The number of the fact in the log of its run. */
  seq: z.number().int().nullable(),
  status: webhookDeliveryStatus,
  attempts: z.number().int().nonnegative(),
  /** At the latest; null unless `pending`. */
  next_attempt_at: z.iso.datetime().nullable(),
  /** Of the last attempt that was answered. */
  response_status: z.number().int().nullable(),
  /** Why the last attempt failed. */
  error: z.string().nullable(),
  created_at: z.iso.datetime(),
  delivered_at: z.iso.datetime().nullable(),
});
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

/** Where the events of an account are sent. */
export const webhookEndpoint = z.object({
  id: webhookEndpointId,
  url: z.string(),
  description: z.string(),
  events: z.array(webhookFactType),
  is_paused: z.boolean(),
  secrets: z.array(secretHint),
  /** The newest one that was attempted; the newest one of all while nothing was. */
  last_delivery: webhookDelivery.nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type WebhookEndpoint = z.infer<typeof webhookEndpoint>;

/** What an endpoint receives. `data` is the fact as it is in the log of the run. */
export const webhookBody = z.object({
  type: webhookEventType,
  timestamp: z.iso.datetime(),
  account_id: accountId,
  agent_id: agentId.nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type WebhookBody = z.infer<typeof webhookBody>;
