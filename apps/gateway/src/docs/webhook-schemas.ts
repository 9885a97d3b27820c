import * as contract from '@rondo/contract';
import * as webhooks from '../webhooks/webhook-endpoint.dto';

/** What is sent to endpoints, as `named-schemas.ts` has it. */
export const webhookSchemas = {
  shared: {
    WebhookFactType: contract.webhookFactType,
    WebhookEventType: contract.webhookEventType,
    WebhookDeliveryStatus: contract.webhookDeliveryStatus,
  },
  responses: {
    WebhookEndpoint: webhooks.WebhookEndpointDto.schema,
    WebhookEndpointWithSecret: webhooks.WebhookEndpointWithSecretDto.schema,
    WebhookEndpointPage: webhooks.WebhookEndpointPageDto.schema,
    WebhookDelivery: webhooks.WebhookDeliveryDto.schema,
    WebhookDeliveryPage: webhooks.WebhookDeliveryPageDto.schema,
    WebhookBody: webhooks.WebhookBodyDto.schema,
  },
  requests: {
    NewWebhookEndpoint: webhooks.NewWebhookEndpointDto.schema,
    WebhookEndpointChange: webhooks.WebhookEndpointChangeDto.schema,
  },
};
