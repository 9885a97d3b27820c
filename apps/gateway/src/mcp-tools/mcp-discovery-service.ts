import type {
  AccountId,
  McpDiscovery,
  McpPromptAnswer,
  McpPromptChoice,
  McpServer,
  McpServerRequest,
} from '@rondo/contract';
import {
  type McpDiscoverRequest,
  type NatsLink,
  OpenExecutors,
  requestMcpDiscovery,
  requestMcpPrompts,
} from '@rondo/messaging';
import type { SecretBox } from '@rondo/platform';
import { ApiError, retryAfter, refuseField } from '../problems/api-error';
import { sealServer } from '../settings/sealed-server';

/** Executors announce themselves every second. */
const announcedWithinMs = 2_500;

interface McpDiscoveryParts {
  readonly link: Promise<NatsLink>;
  /** Absent: headers are refused. */
  readonly secrets: Pick<SecretBox, 'seal'> | undefined;
  /** How long a server may take that is a command. */
  readonly startMs: number;
}

/** Asks MCP servers which tools and prompts they have. An executor connects, under the rules for what sandboxes may reach. */
export class McpDiscoveryService {
  private nats: { readonly link: NatsLink; readonly executors: OpenExecutors } | undefined;

  constructor(private readonly parts: McpDiscoveryParts) {
    void parts.link.then((link) => (this.nats = { link, executors: new OpenExecutors(link) }));
  }

  /** Rejects with `executor_unavailable` when no executor can ask the server. */
  discover(account: AccountId, server: McpServerRequest): Promise<McpDiscovery> {
    return this.ask(account, server, requestMcpDiscovery);
  }

  /** The same for its prompts, or the one that is chosen. */
  prompts(account: AccountId, server: McpServerRequest, prompt?: McpPromptChoice): Promise<McpPromptAnswer> {
    return this.ask(account, server, (link, executor, body) =>
      requestMcpPrompts(link, executor, { ...body, ...(prompt && { prompt }) }),
    );
  }

  private async ask<Answer>(account: AccountId, server: McpServerRequest, request: Ask<Answer>): Promise<Answer> {
    const body = { account_id: account, server: this.sealHeaders(account, server), start_ms: this.parts.startMs };
    const executor = await this.nats?.executors.drawWithin(announcedWithinMs);
    if (!this.nats || executor === undefined) throw unavailable('No executor is there to ask the server.');
    const found = await request(this.nats.link, executor, body);
    if (!found) throw unavailable('The executor that was to ask the server did not answer.');
    return found;
  }

  /** Its headers cross NATS as those of a run do. */
  private sealHeaders(account: AccountId, server: McpServerRequest): McpServer {
    const { secrets } = this.parts;
    if (secrets) return sealServer(server, account, secrets);
    if (server.transport === 'stdio') return server;
    const { headers, ...open } = server;
    if (!headers) return open;
    const message = 'cannot be sent: this deployment has no SECRETS_KEY';
    throw refuseField('server.headers', message);
  }
}

type Ask<Answer> = (link: NatsLink, executorId: string, body: McpDiscoverRequest) => Promise<Answer | undefined>;

const unavailable = (detail: string): ApiError => new ApiError('executor_unavailable', detail, retryAfter(1));
