import { setTimeout as delay } from 'node:timers/promises';
import {
  type AccountId,
  type CallId,
  type McpDiscovery,
  type McpServer,
  type McpTool,
  type RunId,
  mcpResourceOperation,
  toSandboxTerms,
} from '@rondo/contract';
import {
  type ClaimedRun,
  ConnectionsAwaited,
  type ServerFact,
  TerminalError,
  type ToolDefinition,
  type UnconnectedServer,
  readConnectAnswers,
} from '@rondo/domain';
import { type McpListRequest, TunnelError } from '@rondo/messaging';
import type { WithheldMcpTool } from '@rondo/persistence';
import type { Catalog } from '@rondo/run-holder';
import { z } from 'zod';
import { type ExecutorFinder, findExecutor, longestDecisionMs, mayTryAgain, pauseAfter } from './preparation-steps';

export interface McpCatalogParts extends ExecutorFinder {
  readonly builtIn: readonly ToolDefinition[];
  /** Undefined if there is no answer. */
  readonly list: (executorId: string, request: McpListRequest) => Promise<McpDiscovery | undefined>;
  /** The tools of a server that the account has accepted, and that have not changed as far as is known. */
  readonly known?: (account: AccountId, server: McpServer) => Promise<readonly McpTool[]>;
  /** Under which a person answers whether a server is connected. */
  readonly newCallId: () => CallId;
  /** Whether a person has to allow the run to use a secret, or has just allowed it. */
  readonly awaitsSecret: (run: RunId) => Promise<boolean>;
  /** Before an executor that does not answer is asked again. */
  readonly pauseMs: number;
  /** Remembers tools that are new to the account. Resolves to those that its runs must not be offered. */
  readonly note: (
    account: AccountId,
    server: McpServer,
    tools: readonly McpTool[],
  ) => Promise<readonly WithheldMcpTool[]>;
}

/** A server that has not answered yet. `since`: when it was asked, as ISO 8601. */
export interface StartingServer {
  readonly name: string;
  readonly since: string;
}

/** What came of asking for the tools of a server. `unconnected`: the run waits for a person who connects it. */
interface Found {
  readonly discovery: McpDiscovery;
  readonly unconnected?: UnconnectedServer;
}

const unconnected = {
  decline: 'A person has decided not to connect it.',
  cancel: 'No person has connected it in time.',
};

/** A run may limit it further. */
const longestCallMs = 600_000;
const betweenListsMs = 1_000;
const anyArguments = z.looseObject({});

/** The tools of a run that starts: the built-in ones, and those of the MCP servers that its settings name. */
export class McpCatalog {
  private readonly waits = new Map<RunId, Set<StartingServer>>();

  constructor(private readonly parts: McpCatalogParts) {}

  /** The servers that the run waits for, for people who ask. */
  readStarting(run: RunId): readonly StartingServer[] {
    return [...(this.waits.get(run) ?? [])];
  }

  /**
   * A server that cannot be reached is skipped. Its run does not wait for it again. Rejects with ConnectionsAwaited while people have
   * not said what becomes of servers that they have to connect.
   */
  async catalogFor(claim: ClaimedRun, signal: AbortSignal): Promise<Catalog> {
    const { builtIn } = this.parts;
    const servers = claim.run.settings.mcp_servers ?? [];
    if (servers.length === 0) return { tools: builtIn };

    const discoveries = await this.discover(claim, servers, signal);
    const awaited = discoveries.flatMap((one) => one.unconnected ?? []);
    if (awaited.length > 0) throw new ConnectionsAwaited(awaited);
    const builtInNames = new Set(builtIn.map(({ name }) => name));
    const catalogs = discoveries.map(({ server, discovery }) => ({
      server,
      discovery,
      tools: discovery.how === 'connected' ? listTools(server, discovery.tools, builtInNames) : [],
    }));
    return {
      tools: [...builtIn, ...catalogs.flatMap(({ tools }) => tools)],
      servers: catalogs.map(({ server, discovery, tools }) => toFact(server, discovery, tools)),
    };
  }

  private async discover(claim: ClaimedRun, servers: readonly McpServer[], signal: AbortSignal) {
    const aborted = new Promise<Found>((resolve) => {
      const reason = 'The run ended before the server had answered.';
      const end = () => resolve({ discovery: { how: 'failed', reason } });
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
    const waits = new Set<StartingServer>();
    this.waits.set(claim.runId, waits);
    const discoveries = servers.map(async (server) => {
      const starting = { name: server.name, since: new Date().toISOString() };
      waits.add(starting);
      const one: Found = await Promise.race([
        this.find(claim, server, signal).catch((error: unknown) => ({ discovery: reportUnplaced(error) })),
        aborted,
      ]);
      waits.delete(starting);
      return { server, ...one };
    });
    return Promise.all(discoveries).finally(() => {
      if (this.waits.get(claim.runId) === waits) this.waits.delete(claim.runId);
    });
  }

  /** An executor that does not answer may be starting anew, so it is asked again, as for the other preparations of a run. */
  private async find(claim: ClaimedRun, server: McpServer, signal: AbortSignal): Promise<Found> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const executorId = await findExecutor(this.parts, claim, signal);
        return await this.findAt(executorId, claim, { server, signal });
      } catch (error) {
        if (!(error instanceof TunnelError && mayTryAgain(error, attempt))) throw error;
      }
      await pauseAfter(attempt, this.parts.pauseMs, signal);
    }
  }

  /** Rejects with TunnelError where that executor does not answer. */
  private async findAt(
    executorId: string,
    claim: ClaimedRun,
    { server, signal }: { readonly server: McpServer; readonly signal: AbortSignal },
  ): Promise<Found> {
    const { runId: run_id, workspaceId: thread_id, accountId: account_id } = claim;
    const sandbox = toSandboxTerms(claim.run.settings.environment);
    const request = { run_id, thread_id, account_id, server, ...(sandbox && { sandbox }) };
    const answer = await this.listWithPeople(executorId, request, signal);
    if (!answer) throw new TunnelError('executor_away', 'No executor answered for the server.');
    if (answer.how === 'failed' && answer.is_unconnected)
      return this.findUnconnected(claim, answer, { executorId, request });
    return { discovery: await this.withoutWithheld(account_id, server, answer) };
  }

  /** A call of a tool that is known waits until a person has connected the server. Where none is, the run does, before it starts. */
  private async findUnconnected(
    { accountId, log }: ClaimedRun,
    answer: McpDiscovery,
    { executorId, request }: { readonly executorId: string; readonly request: McpListRequest },
  ): Promise<Found> {
    const { server } = request;
    const tools = (await this.parts.known?.(accountId, server)) ?? [];
    if (tools.length > 0) return { discovery: { how: 'connected', tools: [...tools], refused: [] } };
    const decision = readConnectAnswers(log).get(server.name);
    if (decision === 'decline' || decision === 'cancel')
      return { discovery: { how: 'failed', reason: unconnected[decision] } };
    const id = this.parts.newCallId();
    const discovery = (await this.parts.list(executorId, { ...request, call_id: id })) ?? answer;
    if (discovery.how === 'connected') return { discovery: await this.withoutWithheld(accountId, server, discovery) };
    const { connect_page: page } = discovery;
    return { discovery, ...(page !== undefined && { unconnected: { id, server: server.name, page } }) };
  }

  /** A header may have a secret that a person has to allow first: then the server is asked again until that is decided, or for so long. */
  private async listWithPeople(
    executorId: string,
    request: McpListRequest,
    signal: AbortSignal,
  ): Promise<McpDiscovery | undefined> {
    const until = performance.now() + longestDecisionMs;
    for (;;) {
      const answer = await this.parts.list(executorId, request);
      if (answer?.how === 'connected' || signal.aborted || performance.now() > until) return answer;
      if (!(await this.parts.awaitsSecret(request.run_id))) return answer;
      await delay(betweenListsMs, undefined, { signal });
    }
  }

  /** A tool that has changed since the account accepted it needs a person's word first. */
  private async withoutWithheld(account: AccountId, server: McpServer, discovery: McpDiscovery): Promise<McpDiscovery> {
    if (discovery.how === 'failed') return discovery;
    const withheld = await this.parts.note(account, server, discovery.tools);
    const changes = withheld.map(({ id, tool }) => ({ tool, reason: id === undefined ? tooMany : whyChanged(id) }));
    const isWithheld = new Set(withheld.map(({ tool }) => tool));
    return {
      ...discovery,
      tools: discovery.tools.filter(({ tool }) => !isWithheld.has(tool)),
      refused: [...changes, ...discovery.refused],
    };
  }
}

const tooMany = 'this account knows too many tools of MCP servers: forget some with DELETE /v1/mcp-tools';
const whyChanged = (id: string): string =>
  `the server has changed it since this account accepted it: confirm it with POST /v1/mcp-tools/${id}/confirm`;

/** Any other error says nothing of the server, as that of a database that is away: then the run begins again. */
function reportUnplaced(error: unknown): McpDiscovery {
  if (error instanceof TerminalError || error instanceof TunnelError) return { how: 'failed', reason: error.message };
  throw error;
}

/** Lists and reads of resources: not the server says what they are. */
const isOfProtocol = (tool: string): boolean => mcpResourceOperation.safeParse(tool).success;

/** Only names below the server's own: an executor that lies cannot replace another tool. */
function listTools(server: McpServer, tools: readonly McpTool[], builtInNames: ReadonlySet<string>): ToolDefinition[] {
  const names = new Set<string>();
  return tools.flatMap(({ name, tool, description, parameters, effect_class, fingerprint }) => {
    if (!name.startsWith(`${server.name}__`) || builtInNames.has(name) || names.has(name)) return [];
    names.add(name);
    return [
      {
        name,
        description,
        input: anyArguments,
        parameters,
        effect: server.trust_annotations === true || isOfProtocol(tool) ? effect_class : 'unsafe',
        runsIn: 'executor' as const,
        timeoutMs: longestCallMs,
        group: 'external' as const,
        source: { kind: 'mcp' as const, server: server.name, tool, fingerprint },
      },
    ];
  });
}

const toFact = ({ name: server }: McpServer, discovery: McpDiscovery, tools: readonly ToolDefinition[]): ServerFact =>
  discovery.how === 'failed'
    ? { type: 'mcp.skipped', iteration: 0, data: { server, reason: discovery.reason } }
    : {
        type: 'mcp.connected',
        iteration: 0,
        data: { server, tools: tools.map(({ name }) => name), refused: discovery.refused },
      };
