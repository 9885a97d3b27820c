import type { AccountId, McpDiscovery, McpServer, McpServerRequest } from '@rondo/contract';
import { type NatsLink, OpenExecutors, requestMcpDiscovery } from '@rondo/messaging';
import type { SecretBox } from '@rondo/platform';
import { ApiError, InvalidRequest, retryAfter } from '../problems/api-error';
import { sealedServer } from '../runs/sealed-server';

/** Executors announce themselves every second. */
const announcedWithinMs = 2_500;

interface McpDiscoveryParts {
  readonly link: Promise<NatsLink>;
  /** Absent: headers are refused. */
  readonly secrets: Pick<SecretBox, 'seal'> | undefined;
  /** How long a server may take that is a command. */
  readonly startMs: number;
}

/** Asks MCP servers which tools they have. An executor connects, under the rules for what sandboxes may reach. */
export class McpDiscoveryService {
  private nats: { readonly link: NatsLink; readonly executors: OpenExecutors } | undefined;

  constructor(private readonly parts: McpDiscoveryParts) {
    void parts.link.then((link) => (this.nats = { link, executors: new OpenExecutors(link) }));
  }

  /** Rejects with `executor_unavailable` when no executor can ask the server. */
  async discover(account: AccountId, server: McpServerRequest): Promise<McpDiscovery> {
    const body = { account_id: account, server: this.sealed(account, server), start_ms: this.parts.startMs };
    const executor = await this.nats?.executors.drawWithin(announcedWithinMs);
    if (!this.nats || executor === undefined) throw unavailable('No executor is there to ask the server.');
    const found = await requestMcpDiscovery(this.nats.link, executor, body);
    if (!found) throw unavailable('The executor that was to ask the server did not answer.');
    return found;
  }

  /** Its headers cross NATS as those of a run do. */
  private sealed(account: AccountId, server: McpServerRequest): McpServer {
    const { secrets } = this.parts;
    if (secrets) return sealedServer(server, account, secrets);
    if (server.transport === 'stdio') return server;
    const { headers, ...open } = server;
    if (!headers) return open;
    const message = 'cannot be sent: this deployment has no SECRETS_KEY';
    throw new InvalidRequest([{ field: 'server.headers', message }]);
  }
}

const unavailable = (detail: string): ApiError => new ApiError('executor_unavailable', detail, retryAfter(1));
