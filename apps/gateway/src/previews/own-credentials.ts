import type { IncomingHttpHeaders } from 'node:http';
import { isOwnCookie } from '../auth/browser-cookie';

/** Knows the secrets of this deployment by their form; whether they are valid does not matter. */
export type RecognizesSecret = (secret: string) => boolean;

/**
 * The headers of a request without what signs its sender in to Rondo: browsers send cookies to more hosts than they were made
 * for, and clients send keys to URLs that are not the API's. Credentials of the visitor's own application stay.
 */
export function withoutOwnCredentials(
  { cookie, authorization, ...headers }: IncomingHttpHeaders,
  isOwn: RecognizesSecret,
): IncomingHttpHeaders {
  const cookies = (cookie ?? '')
    .split(';')
    .filter((pair) => !isOwnCookie(pair))
    .join(';')
    .trim();
  const isOwnKey = authorization !== undefined && secretsIn(authorization).some(isOwn);
  return {
    ...headers,
    ...(cookies !== '' && { cookie: cookies }),
    ...(authorization !== undefined && !isOwnKey && { authorization }),
  };
}

/** Of any scheme; a user and a password are two. */
function secretsIn(authorization: string): string[] {
  const words = authorization.split(/[\s,]+/);
  const [scheme = '', encoded = ''] = words;
  if (scheme.toLowerCase() !== 'basic') return words;
  const text = Buffer.from(encoded, 'base64').toString();
  return [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
}
