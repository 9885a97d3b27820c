import { type AccountId, type McpServer, type McpServerRequest, mcpHeaderPurpose } from '@rondo/contract';
import type { SecretBox } from '@rondo/platform';

/** The server without its secrets in plain text: only an executor can open them, for this account and this server. */
export function sealedServer(
  server: McpServerRequest,
  account: AccountId,
  secrets: Pick<SecretBox, 'seal'>,
): McpServer {
  if (server.transport === 'stdio') return server;
  const { headers, ...rest } = server;
  if (!headers) return rest;
  const sealed = Object.entries(headers).map(([name, value]) => [
    name,
    secrets.seal(value, mcpHeaderPurpose(account, server.url, name)),
  ]);
  return { ...rest, sealed_headers: Object.fromEntries(sealed) as Record<string, string> }; // pairs of two strings
}
