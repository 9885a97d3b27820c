import type { IncomingHttpHeaders } from 'node:http';

const names = { plain: 'rondo_session', secure: '__Host-rondo_session' } as const;

/** Of a pair of name and value in the header `Cookie`. */
export const isSessionCookie = (pair: string): boolean =>
  [names.plain, names.secure].some((name) => pair.split('=')[0]?.trim() === name);

/** Browsers accept the prefix only over TLS, and then only from the host itself: no page of a subdomain can replace it. */
const cookieName = (headers: IncomingHttpHeaders): string => (isSecure(headers) ? names.secure : names.plain);

/** A client that claims TLS without having it only makes a cookie that it never sends back. */
const isSecure = (headers: IncomingHttpHeaders): boolean =>
  [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',')[0]?.trim() === 'https';

/** The secret of the session. Undefined if there are several: one of them is then not of this origin. */
export function sessionSecret(headers: IncomingHttpHeaders): string | undefined {
  if (headers.cookie === undefined) return undefined;
  const name = `${cookieName(headers)}=`;
  const found = headers.cookie.split(';').flatMap((pair) => {
    const text = pair.trim();
    return text.startsWith(name) ? [text.slice(name.length)] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/** The header `Set-Cookie`. An empty secret removes the cookie. */
export function sessionCookie(headers: IncomingHttpHeaders, secret: string, expiresAt = new Date(0)): string {
  const maxAge = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
  const attributes = ['Path=/', `Max-Age=${maxAge}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${cookieName(headers)}=${secret}`, ...attributes, ...(isSecure(headers) ? ['Secure'] : [])].join('; ');
}
