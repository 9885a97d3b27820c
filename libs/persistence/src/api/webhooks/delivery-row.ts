import {
  eventId,
  runId,
  webhookDeliveryId,
  webhookDeliveryStatus,
  webhookEndpointId,
  webhookEventType,
} from '@rondo/contract';
import { z } from 'zod';
import { timeColumn } from '../../database/checked-query';

export const deliveryRow = z.object({
  id: webhookDeliveryId,
  endpoint_id: webhookEndpointId,
  event_id: eventId,
  type: webhookEventType,
  run_id: runId.nullable(),
  seq: z.number().nullable(),
  status: webhookDeliveryStatus,
  attempts: z.number(),
  next_attempt_at: timeColumn.nullable(),
  response_status: z.number().nullable(),
  error: z.string().nullable(),
  created_at: timeColumn,
  delivered_at: timeColumn.nullable(),
});

export const deliveryColumns = `
id, endpoint_id, event_id, type, run_id, seq, status, attempts, next_attempt_at, response_status, error, created_at, delivered_at`;

const newest = (limit: number) => `
select ${deliveryColumns} from webhook_deliveries where endpoint_id = webhook_endpoints.id order by id desc limit ${limit}`;

/**
 * Of a row of `webhook_endpoints`: the newest delivery that was attempted, or the newest one while nothing was. Many wait for their
 * first attempt where an endpoint hangs, so only the newest thousand are looked at.
 */
export const lastDelivery = `coalesce(
  (select row_to_json(attempted) from (${newest(1_000)}) as attempted where attempts > 0 order by id desc limit 1),
  (select row_to_json(waiting) from (${newest(1)}) as waiting)
) as last_delivery`;

export const lastDeliveryColumn = { last_delivery: deliveryRow.nullable() };
