import { type AccountId, type McpServer, mcpHeaderPurpose } from '@rondo/contract';
import { SealBroken, type SecretBox } from '@rondo/platform';

/** The headers of a server in plain text. They stay in this process. */
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
