import type { AccountId } from '@rondo/contract';
import type { SecretBox } from '@rondo/platform';
import type { EgressGate, Sandbox } from '../sandboxes';
import { McpConnection, type StartedServer } from './mcp-connection';
import { openHeaders } from './open-headers';
import { readableLine } from './readable-text';
import { remoteTransport } from './remote-transport';
import { SandboxTransport } from './sandbox-transport';
import type { SchemaChecker } from './schemas/schema-checker';

/** A server, and for whom it is used. */
export interface McpUse extends StartedServer {
  readonly account: AccountId;
  readonly run: string;
  readonly egress: Pick<EgressGate, 'admit'>;
  /** Asked only for a server that runs in it. */
  readonly sandbox: () => Promise<Sandbox>;
  /** The call that needs it. */
  readonly commandId: string;
  readonly signal: AbortSignal;
}

export interface ConnectionParts {
  readonly secrets: Pick<SecretBox, 'open'> | undefined;
  readonly schemas: Pick<SchemaChecker, 'problemsOf'>;
}

/** Rejects when the server is not connected within its time. */
export async function openConnection(use: McpUse, { secrets, schemas }: ConnectionParts): Promise<McpConnection> {
  const { server, account, egress, commandId, run } = use;
  const headers = openHeaders(server, account, secrets);
  if (server.transport !== 'stdio') {
    const connection = new McpConnection(use, schemas, (broke) => remoteTransport(server, { headers, egress, broke }));
    await connection.open(use.signal);
    return connection;
  }
  const command = { session: `mcp-${server.name}`, command: server.command, commandId, run };
  const transport = new SandboxTransport(await use.sandbox(), command);
  const connection = new McpConnection(use, schemas, () => transport);
  try {
    await connection.open(use.signal);
    return connection;
  } catch (error) {
    const wrote = readableLine(await transport.lastErrors(), shownErrors);
    if (wrote === '') throw error;
    throw new Error(`${error instanceof Error ? error.message : String(error)} It wrote: ${wrote}`, { cause: error });
  }
}

const shownErrors = 200;
