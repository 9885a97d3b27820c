import type { ListedSession, Session, SessionLink } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** How a browser signs in. A page then uses a client without a key: its cookie, which no script can read, says who it is. */
export class Sessions {
  constructor(private readonly transport: Transport) {}

  /** Who this client's requests are made by. */
  current({ signal }: Options = {}): Promise<Session> {
    return this.transport.json({ path: '/v1/session', signal });
  }

  /** Signs the browser in that sends this, with the client's key. */
  begin({ signal }: Options = {}): Promise<Session> {
    return this.transport.json({ method: 'POST', path: '/v1/session', json: {}, signal, repeatable: false });
  }

  /** A link that signs one browser in, once. */
  createLink({ signal }: Options = {}): Promise<SessionLink> {
    return this.transport.json({ method: 'POST', path: '/v1/session/links', json: {}, signal, repeatable: false });
  }

  /** Those of the account that are not over, newest first. For its admins. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<ListedSession, void> {
    return itemsOf(this.transport, '/v1/sessions', query);
  }

  /** Ends a session of the account; its browser is signed out. For its admins. */
  async revoke(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: `/v1/sessions/${encodeURIComponent(id)}`, signal });
  }

  /** Signs out. */
  async end({ signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: '/v1/session', signal });
  }
}
