import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const secretBytes = 32;
const newSecret = (): string => randomBytes(secretBytes).toString('base64url');
const toDigest = (secret: string): string => hash('sha256', secret, 'base64');

/**
 * Whose requests may use the key: those of a browser that has opened a link. The cookie's name has the port in it, because
 * browsers send cookies to every port of a host, and there may be several consoles. Only digests are kept.
 */
export class BrowserAccess {
  private readonly codes = new Set<string>();
  private readonly sessions = new Set<string>();
  private readonly cookieName: string;

  constructor(port: number) {
    this.cookieName = `rondo_console_${port}`;
  }

  /** A code that `redeem` accepts once. */
  newCode(): string {
    const code = newSecret();
    this.codes.add(toDigest(code));
    return code;
  }

  /** `Set-Cookie` for the browser that sent the code; undefined if it was used before or never made. */
  redeem(code: string): string | undefined {
    if (!this.codes.delete(toDigest(code))) return undefined;
    const secret = newSecret();
    this.sessions.add(toDigest(secret));
    return this.cookie(secret);
  }

  isSignedIn(headers: IncomingHttpHeaders): boolean {
    return this.sessions.has(toDigest(this.toSecret(headers)));
  }

  /** Signs out the browser that sent this. `Set-Cookie`, to remove its cookie. */
  end(headers: IncomingHttpHeaders): string {
    this.sessions.delete(toDigest(this.toSecret(headers)));
    return `${this.cookie('')}; Max-Age=0`;
  }

  /** Empty if there is none, or several: one of them is then from another page. */
  private toSecret({ cookie = '' }: IncomingHttpHeaders): string {
    const pairs = cookie.split(';').map((pair) => pair.trim());
    const found = pairs.filter((pair) => pair.startsWith(`${this.cookieName}=`));
    return found.length === 1 ? (found[0] ?? '').slice(this.cookieName.length + 1) : '';
  }

  /** Without a time, so it ends with the browser. */
  private cookie(secret: string): string {
    return `${this.cookieName}=${secret}; Path=/; HttpOnly; SameSite=Strict`;
  }
}

/**
 * A name that leads here only because its owner says so in the DNS is not accepted: its pages would be of the same origin.
 * Any port is, so that a port may be forwarded.
 */
export const isLoopback = (host: string | undefined): boolean => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '');

/**
 * Whether this comes from a page of this very origin. Pages of other ports are of the same site and would send the cookie.
 * Where browsers do not say it, a request that only reads is accepted, because other pages cannot see the answer.
 */
export function isSameOrigin({ headers, isRead }: { headers: IncomingHttpHeaders; isRead: boolean }): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || (isRead && site === 'none');
  const { origin, host } = headers;
  return origin === undefined ? isRead : origin === `http://${host}`;
}

/** A person has opened this address, not a page of another origin. */
export const isOpenedDirectly = ({ 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  site === undefined || site === 'none' || site === 'same-origin';
