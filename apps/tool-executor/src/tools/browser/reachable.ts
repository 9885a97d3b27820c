import { BrowserProblem } from './browser-errors';

/** Refuses the browser's own pages, such as chrome://crash, and files outside the workspace. */
export function reachable(url: string): string {
  const given = /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^[\w.-]+:\d+(\/|$)/.test(url) ? url : `https://${url}`;
  const parsed = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = parsed?.protocol === 'http:' || parsed?.protocol === 'https:';
  const isFile = parsed?.protocol === 'file:' && parsed.pathname.startsWith('/workspace/');
  if (!parsed || !(isWeb || isFile)) {
    throw new BrowserProblem(`${url.slice(0, 200)} is not a page: use http, https, or file:///workspace/….`);
  }
  return parsed.href;
}
