import { encodeEntities } from '@rondo/domain';
import type { McpLink } from '@rondo/persistence';

const style =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}button{font:inherit;padding:.5rem 1rem}dd{margin:0 0 .75rem;overflow-wrap:anywhere}';

/** The policy for these pages. They have no scripts. */
export const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/** Says what is connected and for whom, since the person who opens it may not be the one who has begun it. */
export function askPage(
  { url, account_name: account, end_user: user, problem, scopes }: McpLink,
  link: string,
): string {
  const whom = user === null ? 'everyone who uses this account' : user;
  return page(
    'Connect an MCP server',
    `${problem === null ? '' : `<p role="alert">The last attempt failed: ${encodeEntities(problem)}</p>`}
<dl><dt>Server</dt><dd><b>${encodeEntities(new URL(url).origin)}</b><br>${encodeEntities(url)}</dd>
<dt>Account</dt><dd>${encodeEntities(account)}</dd><dt>For runs of</dt><dd>${encodeEntities(whom)}</dd>${scopes.length === 0 ? '' : `<dt>Asks for</dt><dd>${encodeEntities(scopes.join(' '))}</dd>`}</dl>
<p>Agents of this account will act at the server with what you allow there. <b>Go on only if you or your team began this</b>, and not because someone sent you this address.</p>
<form method="post" action="?link=${encodeURIComponent(link)}"><button>Continue to sign in</button></form>`,
  );
}

export const donePage = (url: string): string =>
  page(
    'Connected',
    `<p>${encodeEntities(new URL(url).origin)} is connected. You can close this window; a run that waited for it goes on.</p>`,
  );

export const writeFailure = (reason: string): string =>
  page('Not connected', `<p role="alert">${encodeEntities(reason)}</p><p>Begin again where you came from.</p>`);

const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Rondo</title><style>${style}</style></head><body><main><h1>${title}</h1>${content}</main></body></html>`;
