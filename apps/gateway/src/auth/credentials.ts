import type { IncomingHttpHeaders } from 'node:http';
import { clientTokenPrefix } from '@rondo/persistence';
import type { Request } from 'express';
import { ApiError, refuseUnauthorized } from '../problems/api-error';

/** The key of `Authorization: Bearer <key>`. */
export const bearerKey = (header: string | undefined): string | undefined => /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];

/** The password of `Authorization: Basic …` with the user `admin`: how a browser opens the queue board. */
export function adminPassword(header: string | undefined): string | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  return /^admin:(.+)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}

/**
 * The key of a request to a façade, whose clients may send it as `x-api-key`. Throws `malformed_request` where another one is in
 * `Authorization`: one of the two is a mistake.
 */
export function facadeKey({ authorization, 'x-api-key': header }: IncomingHttpHeaders): string | undefined {
  if (typeof header !== 'string' || header === '') return undefined;
  if (authorization !== undefined && bearerKey(authorization) !== header)
    throw new ApiError('malformed_request', 'Authorization and x-api-key have different keys: send one of them.');
  return header;
}

const watchesByUrl = /^\/suna\/api\/agent-run\/[^/]+\/stream$/;

/**
 * The client token of a stream whose clients cannot send a header. Throws `unauthorized` for a key, which must not stand in a URL:
 * those are kept in histories and logs.
 */
export function urlToken({ path, query, headers: { authorization } }: Request): string | undefined {
  if (authorization !== undefined || !watchesByUrl.test(path)) return undefined;
  return clientTokenIn(query['token']);
}

/** The same for a value of the URL. */
export function clientTokenIn(token: unknown): string | undefined {
  if (typeof token !== 'string') return undefined;
  if (!token.startsWith(clientTokenPrefix)) throw refuseUnauthorized('The token of a URL must be a client token.');
  return token;
}
