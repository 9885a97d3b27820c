import type { IncomingHttpHeaders } from 'node:http';

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
