import type { IncomingHttpHeaders } from 'node:http';

/** A client that claims TLS without having it only makes a cookie that it never sends back. */
const isSecure = (headers: IncomingHttpHeaders): boolean =>
  [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',')[0]?.trim() === 'https';

/** A secret that one browser keeps for this gateway alone. */
class BrowserCookie {
  constructor(
    private readonly plainName: string,
    private readonly sameSite: 'Strict' | 'Lax',
  ) {}

  /** Of a pair of name and value in the header `Cookie`. */
  isIn(pair: string): boolean {
    const name = pair.split('=')[0]?.trim();
    return name === this.plainName || name === this.secureName;
  }

  /** Undefined if there are several: one of them is then not of this origin. */
  read(headers: IncomingHttpHeaders): string | undefined {
    if (headers.cookie === undefined) return undefined;
    const name = `${this.findName(headers)}=`;
    const found = headers.cookie.split(';').flatMap((pair) => {
      const text = pair.trim();
      return text.startsWith(name) ? [text.slice(name.length)] : [];
    });
    return found.length === 1 ? found[0] : undefined;
  }

  /** The header `Set-Cookie`. An empty secret removes the cookie. */
  write(headers: IncomingHttpHeaders, secret: string, expiresAt = new Date(0)): string {
    const maxAge = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
    const attributes = ['Path=/', `Max-Age=${maxAge}`, 'HttpOnly', `SameSite=${this.sameSite}`];
    const pair = `${this.findName(headers)}=${secret}`;
    return [pair, ...attributes, ...(isSecure(headers) ? ['Secure'] : [])].join('; ');
  }

  private get secureName(): string {
    return `__Host-${this.plainName}`;
  }

  /** Browsers accept the prefix only over TLS, and then only from the host itself: no page of a subdomain can replace it. */
  private findName(headers: IncomingHttpHeaders): string {
    return isSecure(headers) ? this.secureName : this.plainName;
  }
}

/** Of a browser that is signed in. */
export const sessionCookie = new BrowserCookie('rondo_session', 'Strict');
/** Of a browser that is at an authorization server, whose page leads it back: that is why another site may send it here. */
export const connectCookie = new BrowserCookie('rondo_connect', 'Lax');

/** Whether a pair of name and value in the header `Cookie` is a secret of this gateway. */
export const isOwnCookie = (pair: string): boolean =>
  [sessionCookie, connectCookie].some((cookie) => cookie.isIn(pair));

/**
 * Whether a browser sends this from a page of this origin, so that its cookie may count. Browsers say so in `Sec-Fetch-Site`,
 * which pages cannot set; over plain HTTP they only send `Origin`, and not with every request that just reads. Pages of
 * previews and of other ports are of the same site, for which `SameSite` is no protection.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, { isRead }: { isRead: boolean }): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || (isRead && site === 'none');
  const { origin, host } = headers;
  return origin === undefined ? isRead : URL.canParse(origin) && new URL(origin).host === host;
}

const loopbackHost = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;

/**
 * A person has opened this address, not a page of another origin. Over plain HTTP browsers do not say so, except to
 * their own machine, where older ones do not either: what a page could do there, it could do without Rondo.
 */
export const isOpenedDirectly = ({ 'sec-fetch-site': site, host = '' }: IncomingHttpHeaders): boolean =>
  site === undefined ? loopbackHost.test(host) : site === 'none' || site === 'same-origin';
