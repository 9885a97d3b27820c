import { Accounts } from './accounts.ts';
import { Agents } from './agents.ts';
import { ApiKeys } from './api-keys.ts';
import { Approvals } from './approvals.ts';
import { ToolCalls } from './caller-tools.ts';
import { Files } from './files.ts';
import type { AuditEntry, Balance, DeploymentHealth, Model, ModelPage, Tool, UsageReport } from './generated/api.ts';
import { Mcp } from './mcp.ts';
import { itemsOf } from './pages.ts';
import { Projects } from './projects.ts';
import { type Options, Runs } from './runs.ts';
import { Sandboxes } from './sandboxes.ts';
import { Schedules } from './schedules.ts';
import { Sites } from './sites.ts';
import { Sessions } from './sessions.ts';
import { Threads } from './threads.ts';
import { type ApiRequest, type RondoOptions, Transport } from './transport.ts';
import { WebhookTriggers } from './webhook-triggers.ts';
import { WebhookEndpoints } from './webhook-endpoints.ts';

export interface UsageQuery {
  /** `day`, `model`, `agent`, or several of them with commas. Default: `day`. */
  readonly group_by?: string;
  /** A day or a moment; the first one counts. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly run_id?: string | undefined;
}

/** A client of one gateway, with one API key or a browser's session. It needs `fetch` and Web Crypto, and nothing else. */
export class Rondo {
  readonly runs: Runs;
  readonly threads: Threads;
  readonly projects: Projects;
  readonly sandboxes: Sandboxes;
  readonly sites: Sites;
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly agents: Agents;
  readonly approvals: Approvals;
  readonly toolCalls: ToolCalls;
  readonly sessions: Sessions;
  readonly files: Files;
  readonly mcp: Mcp;
  readonly schedules: Schedules;
  readonly webhookTriggers: WebhookTriggers;
  readonly webhookEndpoints: WebhookEndpoints;
  private readonly transport: Transport;

  constructor(options: RondoOptions) {
    this.transport = new Transport(options);
    this.runs = new Runs(this.transport);
    this.threads = new Threads(this.transport);
    this.projects = new Projects(this.transport);
    this.sandboxes = new Sandboxes(this.transport);
    this.sites = new Sites(this.transport);
    this.accounts = new Accounts(this.transport);
    this.apiKeys = new ApiKeys(this.transport);
    this.agents = new Agents(this.transport);
    this.approvals = new Approvals(this.transport);
    this.toolCalls = new ToolCalls(this.transport);
    this.sessions = new Sessions(this.transport);
    this.files = new Files(this.transport);
    this.mcp = new Mcp(this.transport);
    this.schedules = new Schedules(this.transport);
    this.webhookTriggers = new WebhookTriggers(this.transport);
    this.webhookEndpoints = new WebhookEndpoints(this.transport);
  }

  /**
   * A request to a route of the API, for example one that has no method here. Resolves with the JSON of the answer, or with
   * undefined where a route answers nothing.
   */
  async request<Answer>(request: Omit<ApiRequest, 'content' | 'repeatable'>): Promise<Answer> {
    if (!request.path.startsWith('/')) throw new TypeError('The path of a request begins with a slash.');
    const response = await this.transport.send(request);
    return (response.status === 204 ? undefined : await response.json()) as Answer; // the caller knows the route
  }

  /** What model calls have used, summed up by day, model or agent. */
  usage(query: UsageQuery = {}, { signal }: Options = {}): Promise<UsageReport> {
    return this.transport.json({ path: '/v1/usage', query: { ...query }, signal });
  }

  /** The same as a table, with a line of names. */
  async usageCsv(query: UsageQuery = {}, { signal }: Options = {}): Promise<string> {
    const headers = { Accept: 'text/csv' };
    return (await this.transport.send({ path: '/v1/usage', query: { ...query }, headers, signal })).text();
  }

  /** The administrative acts of the account, newest first, for its admins. */
  audit(query: { readonly action?: string; readonly limit?: number } = {}): AsyncGenerator<AuditEntry, void> {
    return itemsOf(this.transport, '/v1/audit', query);
  }

  /** What the whole deployment does, for the account that operates it. */
  deploymentHealth({ signal }: Options = {}): Promise<DeploymentHealth> {
    return this.transport.json({ path: '/v1/admin/health', signal });
  }

  /** What the account may use, has used and has left. */
  balance({ signal }: Options = {}): Promise<Balance> {
    return this.transport.json({ path: '/v1/balance', signal });
  }

  models(): AsyncGenerator<Model, void> {
    return itemsOf(this.transport, '/v1/models');
  }

  /** Any model `provider/…` of these is accepted. */
  async modelProviders(): Promise<readonly string[]> {
    const page: ModelPage = await this.transport.json({ path: '/v1/models', query: { limit: 1 } });
    return page.providers;
  }

  tools(): AsyncGenerator<Tool, void> {
    return itemsOf(this.transport, '/v1/tools');
  }

  /** An image that a message or a result refers to. The response has its bytes. */
  blob(sha256: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Response> {
    return this.transport.send({ path: `/v1/blobs/${encodeURIComponent(sha256)}`, signal });
  }
}
