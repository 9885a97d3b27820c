import { type AccountId, type McpServer, mcpHeaderPurpose } from '@rondo/contract';
import { type CheckedFetch, SealBroken, type SecretBox } from '@rondo/platform';
import { placeSecret } from '../secrets/place-secret';
import { type OpenSecret, SecretRefused, type SecretSource, type SecretUser } from '../secrets/secret-source';

/** The headers of a server in plain text. They stay in this process. Placeholders of secrets are still in them. */
export function openHeaders(
  server: McpServer,
  account: AccountId,
  secrets: Pick<SecretBox, 'open'> | undefined,
): Record<string, string> {
  if (server.transport === 'stdio' || !server.sealed_headers) return {};
  if (!secrets) throw new SealBroken('This executor has no SECRETS_KEY.');
  const opened = Object.entries(server.sealed_headers).map(
    ([name, sealed]) => [name, secrets.open(sealed, mcpHeaderPurpose(account, server.url, name))] as const,
  );
  return Object.fromEntries(opened);
}

const shortest = 8;

/** What must not be shown of them: the values, and the parts of a value such as `Bearer …`. */
export const secretsIn = (headers: Readonly<Record<string, string>>): string[] =>
  Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)].filter(({ length }) => length >= shortest));

/** In the value of a header: `Bearer ${secret.GITHUB_TOKEN}`. */
const placeholder = /\$\{secret\.([A-Z][A-Z0-9_]{0,63})\}/g;

/**
 * `fetch` that puts values for the placeholders in headers, anew for each request: so a secret goes only where it may go at that
 * moment. Rejects with SecretRefused, and the request is not sent.
 */
export function fetchWithSecrets(
  fetch: CheckedFetch,
  user: () => SecretUser,
  source: Pick<SecretSource, 'open'> | undefined,
): CheckedFetch {
  return async (given, init = {}) => {
    const sent = [...new Headers(init.headers)];
    const names = new Set(sent.flatMap(([, value]) => [...value.matchAll(placeholder)].map(([, name = '']) => name)));
    if (names.size === 0) return fetch(given, init);
    if (!source) throw new SecretRefused('Secrets cannot be used here.');
    const used: OpenSecret[] = [];
    const signal = init.signal ?? undefined;
    let headers: readonly (readonly [string, string])[] = sent;
    for (const name of names) {
      const secret = await source.open({ ...user(), name, via: 'mcp', request: requestTo(given, init), signal });
      headers = withValue(headers, name, secret);
      used.push(secret);
    }
    const response = await fetch(given, { ...init, headers: headers.map(([name, value]) => [name, value]) });
    for (const { answered } of used) answered(response.status);
    return response;
  };
}

function withValue(
  headers: readonly (readonly [string, string])[],
  name: string,
  secret: OpenSecret,
): readonly (readonly [string, string])[] {
  const text = `\${secret.${name}}`;
  const { placement, value } = secret;
  if (placement.in === 'basic') {
    const credentials = Buffer.from(`${placement.username}:${value}`).toString('base64');
    return headers.map(([header, given]) =>
      header === 'authorization' && given.includes(text) ? [header, `Basic ${credentials}`] : [header, given],
    );
  }
  const placed = placeSecret({ target: '', headers }, text, secret);
  if (placed) return placed.headers;
  throw new SecretRefused(`The secret ${name} does not belong into this header of an MCP server.`);
}

function requestTo(given: string | URL, { method = 'GET' }: RequestInit) {
  const { protocol, hostname, port, pathname } = new URL(given);
  const isTls = protocol === 'https:';
  return {
    ...{ protocol: isTls ? ('https:' as const) : ('http:' as const), host: hostname, method, path: pathname },
    port: Number(port || (isTls ? 443 : 80)),
  };
}
