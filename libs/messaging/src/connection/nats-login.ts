import { randomBytes } from 'node:crypto';

const usualPrefix = '_INBOX';

/** The prefix of a user's reply subjects. No other user may subscribe there, so services cannot read each other's replies. */
export const inboxesOf = (user: string): string => `${usualPrefix}.${user}`;

interface NatsLogin {
  readonly servers: string;
  readonly inboxPrefix: string;
  readonly user?: string;
  readonly pass?: string;
}

/** Connection options of a URL. The client library would ignore a user and password inside it, and log them. */
export function natsLogin(url: string): NatsLogin {
  const { protocol, host, username, password } = new URL(url);
  const servers = `${protocol}//${host}`;
  if (username === '') return { servers, inboxPrefix: usualPrefix };

  const [user, pass] = [username, password].map(decodeURIComponent) as [string, string]; // map keeps the length
  return { servers, user, pass, inboxPrefix: inboxesOf(user) };
}

/** The library numbers its inboxes, so a receiver of one could guess the next; these cannot be guessed. */
export const secretInbox = (prefix: string): string => `${prefix}.${randomBytes(16).toString('base64url')}`;
