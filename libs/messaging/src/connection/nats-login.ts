import { randomBytes } from 'node:crypto';

const usualPrefix = '_INBOX';

/** The prefix of a user's reply subjects. No other user may subscribe there, so services cannot read each other's replies. */
export const toInboxes = (user: string): string => `${usualPrefix}.${user}`;

interface NatsLogin {
  /** The hosts of one cluster; the client library tries them in random order until one answers. */
  readonly servers: string[];
  readonly inboxPrefix: string;
  readonly user?: string;
  readonly pass?: string;
  /** Refuses a server without TLS. */
  readonly tls?: TlsFiles;
}

/** Paths of PEM files. */
export interface TlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** `scheme://user:password@host:port,host:port?parameters`. With several hosts it is no URL for Node. */
const parts = /^(?<scheme>nats|tls):\/\/(?:(?<login>[^@/\s]*)@)?(?<hosts>[^@/?\s]+)\/?(?:\?(?<query>\S*))?$/;

function splitUrl(url: string) {
  const groups = parts.exec(url)?.groups;
  if (!groups) throw new Error('NATS_URL must be nats://name:password@host:port,host:port');
  const { scheme = '', login = '', hosts = '', query } = groups;
  const [user = '', ...password] = login.split(':');
  return { scheme, user, password: password.join(':'), hosts: hosts.split(','), query };
}

/**
 * Connection options of a URL. The client library would ignore a user and password inside it, and log them.
 * Throws if it is not a NATS URL.
 */
export function natsLogin(url: string): NatsLogin {
  const { scheme, user, password, hosts, query } = splitUrl(url);
  const files = new URLSearchParams(query);
  const tls = {
    ...readPath(files, 'sslrootcert', 'caFile'),
    ...readPath(files, 'sslcert', 'certFile'),
    ...readPath(files, 'sslkey', 'keyFile'),
  };
  const place = {
    servers: hosts.map((host) => `${scheme}://${host}`),
    ...((scheme === 'tls' || query !== undefined) && { tls }),
  };
  if (user === '') return { ...place, inboxPrefix: usualPrefix };

  const login = decodeURIComponent(user);
  return { ...place, user: login, pass: decodeURIComponent(password), inboxPrefix: toInboxes(login) };
}

function readPath(files: URLSearchParams, parameter: string, option: keyof TlsFiles): TlsFiles {
  const path = files.get(parameter);
  return path === null ? {} : { [option]: path };
}

/** The URL with another password, for a user whose password is in a file. */
export function withNatsPassword(url: string, password: string): string {
  const { scheme, user, hosts, query } = splitUrl(url);
  const login = `${user}:${encodeURIComponent(password)}`;
  return `${scheme}://${login}@${hosts.join(',')}${query === undefined ? '' : `?${query}`}`;
}

/** The library numbers its inboxes, so a receiver of one could guess the next; these cannot be guessed. */
export const secretInbox = (prefix: string): string => `${prefix}.${randomBytes(16).toString('base64url')}`;
