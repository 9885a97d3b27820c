import type { CheckedFetch } from '@rondo/platform';
import { SecretRefused, type SecretSource, type SecretUser } from '../secrets/secret-source';
import type { RemoteServer } from './remote-transport';

interface TokenUse {
  readonly server: RemoteServer;
  readonly user: () => SecretUser;
  readonly source: Pick<SecretSource, 'openToken'> | undefined;
}

const unauthorized = 401;

/**
 * `fetch` that puts the token of a connection into requests to its server, asked for anew for each: so none carries one after the
 * disconnection. A request that the server refuses for its token is sent once more with another one. Rejects with ConnectionMissing
 * or SecretRefused, and the request is not sent.
 */
export function fetchWithToken(fetch: CheckedFetch, { server, user, source }: TokenUse): CheckedFetch {
  const { connection: owner, url } = server;
  if (owner === undefined) return fetch;
  return async (given, init = {}) => {
    if (new URL(given).origin !== new URL(url).origin) return fetch(given, init); // a token is for its server alone
    if (!source) throw new SecretRefused('Connections cannot be used here: this executor has no SECRETS_KEY.');
    const send = (token: string) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(given, { ...init, headers });
    };
    const first = await source.openToken({ ...user(), url, owner });
    const response = await send(first.value);
    if (response.status !== unauthorized) return response;
    await response.body?.cancel();
    const second = await source.openToken({ ...user(), url, owner, refused: first.version });
    return send(second.value);
  };
}
