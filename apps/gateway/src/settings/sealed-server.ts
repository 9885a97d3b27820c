import { type AccountId, type McpServer, type McpServerRequest, mcpHeaderPurpose } from '@rondo/contract';
import { SealBroken, type SecretBox } from '@rondo/platform';

/** The server without its secrets in plain text: only an executor can open them, for this account and this server. */
export function sealServer(server: McpServerRequest, account: AccountId, secrets: Pick<SecretBox, 'seal'>): McpServer {
  if (server.transport === 'stdio') return server;
  const { headers, ...rest } = server;
  if (!headers) return rest;
  const sealed = Object.entries(headers).map(([name, value]) => [
    name,
    secrets.seal(value, mcpHeaderPurpose(account, server.url, name)),
  ]);
  return { ...rest, sealed_headers: Object.fromEntries(sealed) as Record<string, string> }; // pairs of two strings
}

/** A stored server whose headers the key that seals now has sealed: executors may have no older one. */
export function renewServer(server: McpServer, account: AccountId, secrets: Pick<SecretBox, 'renew'>): McpServer {
  if (server.transport === 'stdio' || !server.sealed_headers) return server;
  const renewed = Object.entries(server.sealed_headers).map(([name, sealed]) => [
    name,
    renewOrKeep(sealed, () => secrets.renew(sealed, mcpHeaderPurpose(account, server.url, name))),
  ]);
  return { ...server, sealed_headers: Object.fromEntries(renewed) as Record<string, string> }; // pairs of two strings
}

/** What cannot be opened stays as it is: the run then says why it could not use the server. */
function renewOrKeep(sealed: string, renew: () => string): string {
  try {
    return renew();
  } catch (error) {
    if (error instanceof SealBroken) return sealed;
    throw error;
  }
}
