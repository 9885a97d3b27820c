import type {
  Execution,
  NewWebhookTrigger,
  SecretRotation,
  WebhookTrigger,
  WebhookTriggerChange,
  WebhookTriggerWithSecret,
} from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** What starts a run for each signed request that another system sends. */
export class WebhookTriggers {
  constructor(private readonly transport: Transport) {}

  /** The only answer that has the secret. It is never sent a second time by itself. */
  create(trigger: NewWebhookTrigger, { signal }: Options = {}): Promise<WebhookTriggerWithSecret> {
    return this.transport.json({ method: 'POST', path: '/v1/triggers', json: trigger, signal, repeatable: false });
  }

  get(id: string, { signal }: Options = {}): Promise<WebhookTrigger> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** Newest first. */
  list(query: { readonly agent_id?: string; readonly limit?: number } = {}): AsyncGenerator<WebhookTrigger, void> {
    return itemsOf(this.transport, '/v1/triggers', query);
  }

  /** `run` is replaced as a whole. */
  update(id: string, change: WebhookTriggerChange, { signal }: Options = {}): Promise<WebhookTrigger> {
    return this.transport.json({ method: 'PATCH', path: pathOf(id), json: change, signal });
  }

  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** A new secret, shown this once. The former one is accepted for a while. */
  rotateSecret(id: string, rotation: SecretRotation = {}): Promise<WebhookTriggerWithSecret> {
    const path = `${pathOf(id)}/rotate-secret`;
    return this.transport.json({ method: 'POST', path, json: rotation, repeatable: false });
  }

  /** What became of its webhooks, newest first. */
  executions(id: string, query: { readonly limit?: number } = {}): AsyncGenerator<Execution, void> {
    return itemsOf(this.transport, `${pathOf(id)}/executions`, query);
  }
}

const pathOf = (id: string): string => `/v1/triggers/${encodeURIComponent(id)}`;
