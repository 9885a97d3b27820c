import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { mostScopes, oauthScope } from '@rondo/contract';
import type { CheckedFetch } from '@rondo/platform';
import { SecretRefused, type SecretSource, type SecretUser } from '../secrets/secret-source';
import type { RemoteServer } from './remote-transport';

interface TokenUse {
  readonly server: RemoteServer;
  readonly user: () => SecretUser;
  readonly source: Pick<SecretSource, 'openToken'> | undefined;
}

const unauthorized = 401;
const forbidden = 403;

/**
 * `fetch` that puts the token of a connection into requests to its server, asked for anew for each: so none carries one after the
 * disconnection. A request that the server refuses for its token, or for the scopes of its token, is sent once more with another one.
 * Rejects with ConnectionMissing or SecretRefused, and the request is not sent.
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
    const answered = new Set<number>();
    for (let order = {}; ;) {
      const token = await source.openToken({ ...user(), url, owner, ...order });
      const response = await send(token.value);
      const scopes = readWantedScopes(response);
      const isRefused = response.status === unauthorized || scopes !== undefined;
      if (!isRefused || answered.has(response.status)) return response;
      answered.add(response.status);
      await response.body?.cancel();
      order = { refused: token.version, ...(scopes && { scopes }) };
    }
  };
}

/** What the server wants a token to allow, where it says that it allows too little (RFC 6750). What is no scope is left out. */
function readWantedScopes(response: Response): readonly string[] | undefined {
  if (response.status !== forbidden) return undefined;
  const { error, scope = '' } = extractWWWAuthenticateParams(response);
  const scopes = scope.split(' ').filter((one) => oauthScope.safeParse(one).success);
  return error === 'insufficient_scope' && scopes.length > 0 ? scopes.slice(0, mostScopes) : undefined;
}
