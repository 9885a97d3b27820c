import { randomBytes } from 'node:crypto';

const usualPrefix = '_INBOX';

/** Below which a user takes answers. No other user may listen there, so services cannot read each other's answers. */
export const inboxesOf = (user: string): string => `${usualPrefix}.${user}`;

interface NatsLogin {
  readonly servers: string;
  readonly inboxPrefix: string;
  readonly user?: string;
  readonly pass?: string;
}

/** What the client is told of a URL: a name and a password that stand in one it would neither use nor hide. */
export function natsLogin(url: string): NatsLogin {
  const { protocol, host, username, password } = new URL(url);
  const servers = `${protocol}//${host}`;
  if (username === '') return { servers, inboxPrefix: usualPrefix };

  const [user, pass] = [username, password].map(decodeURIComponent) as [string, string]; // as many as went in
  return { servers, user, pass, inboxPrefix: inboxesOf(user) };
}

/** The library counts its inboxes up, so that who has seen one of them can guess the next. */
export const secretInbox = (prefix: string): string => `${prefix}.${randomBytes(16).toString('base64url')}`;
