import { type AccountId, type CallId, runId } from '@rondo/contract';
import type { SecretBox } from '@rondo/platform';
import { toMessage } from '@rondo/platform';
import type { EgressGate, Sandbox } from '../sandboxes';
import type { SecretSource, SecretUser } from '../secrets/secret-source';
import { McpConnection, type StartedServer } from './mcp-connection';
import type { KnownGenerations } from './generations';
import { fetchWithSecrets, openHeaders } from './open-headers';
import { fetchWithToken } from './fetch-with-token';
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
  /** What waits for people, where they are to be asked. */
  readonly call: CallId | null;
  readonly signal: AbortSignal;
}

export interface ConnectionParts {
  readonly secrets: Pick<SecretBox, 'open'> | undefined;
  /** Absent: headers with placeholders of secrets are refused. */
  readonly source: Pick<SecretSource, 'open' | 'openToken'> | undefined;
  readonly schemas: Pick<SchemaChecker, 'readProblems'>;
  readonly generations: KnownGenerations;
}

/** Rejects when the server is not connected within its time. */
export async function openConnection(use: McpUse, parts: ConnectionParts): Promise<McpConnection> {
  const { server, account, egress, commandId, run } = use;
  const { secrets, source } = parts;
  const headers = openHeaders(server, account, secrets);
  if (server.transport !== 'stdio') {
    const connection: McpConnection = new McpConnection(use, parts, (listeners) =>
      remoteTransport(server, {
        ...{ headers, egress, ...listeners },
        withSecrets: (fetch) => {
          const user = () => connection.user ?? toSecretUser(use);
          return fetchWithToken(fetchWithSecrets(fetch, user, source), { server, user, source });
        },
      }),
    );
    await connection.open(use.signal);
    return connection;
  }
  const sandbox = await use.sandbox();
  const transports: SandboxTransport[] = [];
  const connection = new McpConnection(use, parts, ({ unasked }) => {
    const id = transports.length === 0 ? commandId : `${commandId}-again`; // the same command runs once
    const command = { session: `mcp-${server.name}`, command: server.command, commandId: id, run };
    const transport = new SandboxTransport(sandbox, command, unasked);
    transports.push(transport);
    return transport;
  });
  try {
    await connection.open(use.signal);
    return connection;
  } catch (error) {
    const wrote = readableLine((await transports.at(-1)?.lastErrors()) ?? '', shownErrors);
    if (wrote === '') throw error;
    throw new Error(`${toMessage(error)} It wrote: ${wrote}`, { cause: error });
  }
}

/** For whom a request of a server is made. A server that is only looked at serves no run. */
export const toSecretUser = ({ account, run, call }: McpUse): SecretUser => ({
  account,
  run: runId.safeParse(run).data ?? null,
  call,
});

const shownErrors = 200;
