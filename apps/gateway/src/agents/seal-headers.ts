import { type AccountId, type AgentDefinition, mcpHeaderPurpose } from '@rondo/contract';
import type { SealedHeaders } from '@rondo/domain';
import { SealBroken, type SecretBox } from '@rondo/platform';
import { refuseField } from '../problems/api-error';

type Secrets = Pick<SecretBox, 'seal' | 'open' | 'renew'>;
type Server = NonNullable<AgentDefinition['mcp_servers']>[number];

interface Owner {
  readonly account: AccountId;
  /** Absent: this deployment keeps no secrets. */
  readonly secrets: Secrets | undefined;
}

interface GivenHeader {
  readonly field: string;
  /** What binds the value to the account, the origin of the server and the header. */
  readonly purpose: string;
  readonly given: string | null;
  readonly kept: string | undefined;
}

/**
 * The sealed headers of a definition, by what the version before it keeps. A `null` keeps the value, as long as the server is
 * at the same origin: who changes its address must know the secret. The same value stays sealed as it is, unless with an older key. Throws
 * InvalidRequest with the header that has no value.
 */
export function sealHeaders(
  definition: AgentDefinition,
  kept: SealedHeaders,
  { account, secrets }: Owner,
): SealedHeaders {
  const sealed = (definition.mcp_servers ?? []).flatMap((server, index) => {
    const headers = listHeaders(server, { account, field: `definition.mcp_servers.${index}.headers` });
    if (headers.length === 0) return [];
    const values = headers.map(([name, header]) => {
      if (!secrets) throw refuseField(header.field, 'cannot be stored: this deployment has no SECRETS_KEY');
      return [name, sealValue({ ...header, kept: kept[server.name]?.[name] }, secrets)] as const;
    });
    return [[server.name, Object.fromEntries(values)] as const];
  });
  return Object.fromEntries(sealed);
}

function listHeaders(server: Server, { account, field }: { account: AccountId; field: string }) {
  if (server.transport === 'stdio' || !server.headers) return [];
  return Object.entries(server.headers).map(([name, given]) => {
    const purpose = mcpHeaderPurpose(account, server.url, name);
    return [name, { field: `${field}.${name}`, purpose, given }] as const;
  });
}

function sealValue({ field, purpose, given, kept }: GivenHeader, secrets: Secrets): string {
  const known = kept === undefined ? undefined : openValue(secrets, kept, purpose);
  if (kept !== undefined && known !== undefined && (given === null || given === known))
    return secrets.renew(kept, purpose);
  if (given === null) throw refuseField(field, 'has no value that is kept for this server: give it');
  return secrets.seal(given, purpose);
}

function openValue(secrets: Secrets, sealed: string, purpose: string): string | undefined {
  try {
    return secrets.open(sealed, purpose);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
