import {
  webhookBody,
  webhookDelivery,
  webhookDeliveryStatus,
  webhookEndpoint,
  webhookEndpointId,
  webhookEventType,
  webhookFactType,
  runId,
} from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

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

const newEndpoint = z
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

const deliveryQuery = pageQuery.extend({
  status: webhookDeliveryStatus.optional().describe('`dead`: what was given up.'),
  endpoint_id: webhookEndpointId.optional(),
  run_id: runId.optional(),
  type: webhookEventType.optional(),
});

const withSecret = webhookEndpoint.extend({ secret: z.string().describe('Shown this once.') });

export class NewWebhookEndpointDto extends createZodDto(newEndpoint) {}
export class WebhookEndpointChangeDto extends createZodDto(
  z
    .strictObject(fields)
    .partial()
    .meta({ examples: [{ is_paused: true }] }),
) {}
export class WebhookEndpointDto extends createZodDto(webhookEndpoint) {}
export class WebhookEndpointWithSecretDto extends createZodDto(withSecret) {}
export class WebhookEndpointPageDto extends createZodDto(pageOf(webhookEndpoint)) {}
export class WebhookEndpointQueryDto extends createZodDto(pageQuery) {}
export class WebhookDeliveryDto extends createZodDto(webhookDelivery) {}
export class WebhookDeliveryPageDto extends createZodDto(pageOf(webhookDelivery)) {}
export class WebhookDeliveryQueryDto extends createZodDto(deliveryQuery) {}
export class WebhookBodyDto extends createZodDto(webhookBody) {}
