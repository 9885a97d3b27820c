import { ToolCalls } from './caller-tools.ts';
import * as routes from './generated/routes.ts';
import { type ListQuery, type Options, Resource, toRequest } from './resource.ts';
import {
  Accounts,
  Agents,
  ApiKeys,
  Approvals,
  ClientTokens,
  Files,
  Mcp,
  Projects,
  Sandboxes,
  Schedules,
  MemoryStores,
  Secrets,
  Sessions,
  Evaluations,
  Sites,
  Skills,
  Threads,
  Users,
  WebhookEndpoints,
  WebhookTriggers,
} from './resources.ts';
import { Runs } from './runs.ts';
import { type ApiRequest, type RondoOptions, Transport } from './transport.ts';

export type UsageQuery = ListQuery<routes.GetUsageQuery>;

/** A client of one gateway, with one API key or a browser's session. It needs `fetch` and Web Crypto, and nothing else. */
export class Rondo extends Resource {
  readonly runs = new Runs(this.transport);
  readonly threads = new Threads(this.transport);
  readonly projects = new Projects(this.transport);
  readonly sandboxes = new Sandboxes(this.transport);
  readonly sites = new Sites(this.transport);
  readonly accounts = new Accounts(this.transport);
  readonly apiKeys = new ApiKeys(this.transport);
  readonly clientTokens = new ClientTokens(this.transport);
  readonly users = new Users(this.transport);
  readonly agents = new Agents(this.transport);
  readonly approvals = new Approvals(this.transport);
  readonly toolCalls = new ToolCalls(this.transport);
  readonly sessions = new Sessions(this.transport);
  readonly files = new Files(this.transport);
  readonly mcp = new Mcp(this.transport);
  readonly schedules = new Schedules(this.transport);
  readonly secrets = new Secrets(this.transport);
  readonly evaluations = new Evaluations(this.transport);
  readonly skills = new Skills(this.transport);
  readonly memoryStores = new MemoryStores(this.transport);
  readonly webhookTriggers = new WebhookTriggers(this.transport);
  readonly webhookEndpoints = new WebhookEndpoints(this.transport);

  /** What model calls have used, summed up by day, model, agent, user or key. */
  readonly usage = this.send(routes.getUsage);
  /** The model calls themselves, newest first. */
  readonly usageEntries = this.pages(routes.listUsageEntries);
  /** The administrative acts of the account, newest first, for its admins. */
  readonly audit = this.pages(routes.listAudit);
  /** What the whole deployment does, for the account that operates it. */
  readonly deploymentHealth = this.send(routes.getDeploymentHealth);
  /** What the account may use, has used and has left. */
  readonly balance = this.send(routes.getBalance);
  /** What the account keeps for its runs. */
  readonly settings = this.send(routes.getSettings);
  /** Replaces what the account keeps for its runs; `{}` removes it. */
  readonly setSettings = this.send(routes.setSettings);
  readonly models = this.pages(routes.listModels);
  readonly tools = this.pages(routes.listTools);
  /** An image that a message or a result refers to. The response has its bytes. */
  readonly blob = this.send(routes.getBlob);

  constructor(options: RondoOptions) {
    super(new Transport(options));
  }

  /**
   * A request to a route of the API, for example one that has no method here. Resolves with the JSON of the answer, or with
   * undefined where a route answers nothing.
   */
  async request<Answer>(request: Omit<ApiRequest, 'content' | 'repeatable'>): Promise<Answer> {
    if (!request.path.startsWith('/')) throw new TypeError('The path of a request begins with a slash.');
    const read = async (response: Response): Promise<unknown> =>
      response.status === 204 ? undefined : await response.json();
    return (await this.transport.read(request, read)) as Answer; // the caller knows the route
  }

  /** The same as `usage` as a table, with a line of names. Rejects where it could not have all rows, unless `limit` says how many. */
  async usageCsv(query: UsageQuery = {}, options: Options = {}): Promise<string> {
    const request = toRequest(routes.getUsage, [{ limit: 10_000, ...query }, options]); // more are never listed
    const read = async (response: Response) => ({
      rows: await response.text(),
      hasMore: response.headers.has('X-Has-More'),
    });
    const { rows, hasMore } = await this.transport.read({ ...request, headers: { Accept: 'text/csv' } }, read);
    if (query.limit === undefined && hasMore) throw new Error('Too many rows');
    return rows;
  }

  /** Any model `provider/…` of these is accepted. */
  async modelProviders(): Promise<readonly string[]> {
    return (await this.send(routes.listModels)({ limit: 1 })).providers;
  }
}
