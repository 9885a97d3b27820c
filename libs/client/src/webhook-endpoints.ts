import type {
  NewWebhookEndpoint,
  SecretRotation,
  WebhookDelivery,
  WebhookDeliveryStatus,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointWithSecret,
} from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

export interface DeliveryQuery {
  readonly limit?: number;
  /** `dead`: what was given up. */
  readonly status?: WebhookDeliveryStatus;
  readonly endpoint_id?: string;
  readonly run_id?: string;
}

const pathOf = (id: string, end = '') => `/v1/webhooks/${encodeURIComponent(id)}${end}`;

/** Where events of runs are sent. What arrives there, `verifyWebhook` checks. */
export class WebhookEndpoints {
  constructor(private readonly transport: Transport) {}

  /** With the secret, which no later answer has. It is never sent a second time by itself: that would create another one. */
  create(endpoint: NewWebhookEndpoint, { signal }: Options = {}): Promise<WebhookEndpointWithSecret> {
    return this.transport.json({ method: 'POST', path: '/v1/webhooks', json: endpoint, signal, repeatable: false });
  }

  /** Newest first. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<WebhookEndpoint, void> {
    return itemsOf(this.transport, '/v1/webhooks', query);
  }

  get(id: string, { signal }: Options = {}): Promise<WebhookEndpoint> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  update(id: string, json: WebhookEndpointChange, { signal }: Options = {}): Promise<WebhookEndpoint> {
    return this.transport.json({ method: 'PATCH', path: pathOf(id), json, signal });
  }

  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  rotateSecret(id: string, json: SecretRotation = {}, { signal }: Options = {}): Promise<WebhookEndpointWithSecret> {
    return this.transport.json({ method: 'POST', path: pathOf(id, '/rotate-secret'), json, signal, repeatable: false });
  }

  /** Sends the event `webhook.test`. */
  test(id: string, { signal }: Options = {}): Promise<WebhookDelivery> {
    return this.transport.json({ method: 'POST', path: pathOf(id, '/test'), json: {}, signal });
  }

  /** Newest first. */
  deliveries(query: DeliveryQuery = {}): AsyncGenerator<WebhookDelivery, void> {
    return itemsOf(this.transport, '/v1/webhooks/deliveries', { ...query });
  }

  redeliver(id: string, { signal }: Options = {}): Promise<WebhookDelivery> {
    return this.transport.json({ method: 'POST', path: pathOf('deliveries', `/${id}/redeliver`), json: {}, signal });
  }
}
