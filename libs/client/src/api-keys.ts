import type { ApiKey, ApiKeyWithSecret, NewApiKey } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** The API keys of an account, for its admins. */
export class ApiKeys {
  constructor(private readonly transport: Transport) {}

  /** The only answer that has the secret. It is never sent a second time by itself: that would create another key. */
  create(key: NewApiKey, { signal }: Options = {}): Promise<ApiKeyWithSecret> {
    return this.transport.json({ method: 'POST', path: '/v1/api-keys', json: key, signal, repeatable: false });
  }

  /** Newest first. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<ApiKey, void> {
    return itemsOf(this.transport, '/v1/api-keys', query);
  }

  async revoke(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: `/v1/api-keys/${encodeURIComponent(id)}`, signal });
  }
}
