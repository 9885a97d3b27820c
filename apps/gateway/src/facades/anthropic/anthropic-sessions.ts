import {
  type AccountId,
  type AgentDefinition,
  type AgentId,
  type Environment,
  type Run,
  agentDefinition,
  agentId,
  isTerminal,
  isWaiting,
  readUser,
  roundUsd,
  threadId,
} from '@rondo/contract';
import {
  type AnthropicEventQuery,
  type AnthropicSessionAgent,
  type AnthropicSessionChange,
  type AnthropicSessionResource,
  type AnthropicUserEvent,
  type NewAnthropicSession,
  anthropicCoverage,
} from '@rondo/contract/api';
import { withDefinition } from '@rondo/domain';
import type { Caller, FacadeIds, FacadeObject, Runs, ThreadAddress, Threads } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { z } from 'zod';
import type { AuditedRuns } from '../../audit/audited-runs';
import type { AccountQuotas } from '../../billing/account-quotas';
import { ApiError } from '../../problems/api-error';
import type { RunService } from '../../runs/run-service';
import { type ThreadRun, listThreadRuns } from '../log-pages';
import { type Position, readPosition } from '../positions';
import { type AnthropicAgents, mergeMetadata, toSnapshot } from './anthropic-agents';
import { deploymentKeys } from './anthropic-deployments';
import { type AnthropicEnvironments, limitHosts } from './anthropic-environments';
import { refuse, refuseFields } from './anthropic-errors';
import { type ReadableRuns, listEvents } from './anthropic-log';
import { type AnthropicResources, addResource, resourceNotFound, withoutResource } from './anthropic-resources';
import { type BegunTurn, type Turn, refuseUnservedEvents, sendEvents, toTurn } from './anthropic-messages';

const toKind = (accountId: AccountId) => ({ accountId, facade: 'anthropic', kind: 'session' });

const storedHosts = z.array(z.string()).optional();
const storedSession = z.object({ agent: z.object({ version: z.number() }), definition: agentDefinition });

/** With the key that its run counts for. */
type MadeTurn = Turn & { readonly createdBy: string };

interface AnthropicSessionsDependencies {
  readonly ids: Pick<FacadeIds, 'addObject' | 'findObject' | 'listObjects' | 'changeObject'>;
  readonly runs: ReadableRuns & Pick<Runs, 'list' | 'active' | 'current' | 'findNewestBegun' | 'approval'>;
  readonly threads: Pick<Threads, 'get' | 'delete'>;
  readonly service: Pick<RunService, 'create' | 'answer' | 'answerCalls'>;
  readonly acts: AuditedRuns;
  readonly quotas: Pick<AccountQuotas, 'within'>;
  readonly agents: Pick<AnthropicAgents, 'resolve' | 'isActive'>;
  readonly environments: Pick<AnthropicEnvironments, 'requireHosts'>;
  readonly resources: Pick<AnthropicResources, 'read' | 'show' | 'findUndelivered'>;
}

/**
 * Sessions of Claude Managed Agents: threads, each with the agent that it began with. A thread that was begun elsewhere is a
 * session, too, whose agent is that of its newest run.
 */
export class AnthropicSessions {
  constructor(private readonly dependencies: AnthropicSessionsDependencies) {}

  /** With its first messages, or not at all. */
  async create(caller: Caller, request: NewAnthropicSession, at: string) {
    refuseFields(request, anthropicCoverage.requests['POST /sessions']);
    const { accountId } = caller;
    const { initial_events: events = [], environment_id: environmentId, title = null, metadata = {} } = request;
    const resources = await this.dependencies.resources.read(accountId, request.resources ?? [], at);
    refuseUnservedEvents(events);
    const turn = events.length > 0 ? toTurn(events.filter((event) => event.type === 'user.message')) : undefined;
    const hosts = await this.dependencies.environments.requireHosts({ accountId, environmentId });
    const agent = await this.resolveAgent(accountId, request.agent);
    const session = { accountId, threadId: threadId.parse(`thr_${newUlid()}`) };
    const data = {
      environment_id: environmentId,
      hosts,
      title,
      metadata,
      archived_at: null,
      updated_at: at,
      resources,
      ...agent,
    };
    const thread = { id: session.threadId, data, isThread: true, user: readUser({ metadata }) };
    const { quotas, ids } = this.dependencies;
    await quotas.within(accountId, { threads: 1 }, (bounds) => ids.addObject(toKind(accountId), thread, bounds));
    if (turn) await this.beginOrDelete(session, { ...turn, createdBy: caller.keyId });
    return this.get(session);
  }

  async get(session: ThreadAddress) {
    const [row, runs] = await Promise.all([this.findRow(session), listThreadRuns(this.dependencies.runs, session)]);
    return { ...toSession(session, row, runs), resources: await this.dependencies.resources.show(session, row?.data) };
  }

  async list(
    accountId: AccountId,
    query: { limit: number; page?: string | undefined; include_archived?: boolean | undefined; order: string },
  ) {
    const { limit, page: after, include_archived: withArchived = false, order } = query;
    const page = { after, limit: limit + 1, withArchived, isNewestFirst: order === 'desc' };
    const rows = await this.dependencies.ids.listObjects(toKind(accountId), page);
    const shown = rows.slice(0, limit);
    const data = await Promise.all(
      shown.map(async (row) => {
        const session = { accountId, threadId: threadId.parse(row.id) };
        const resources = await this.dependencies.resources.show(session, row.data);
        return { ...toSession(session, row, await listThreadRuns(this.dependencies.runs, session)), resources };
      }),
    );
    return { data, next_page: rows.length > limit ? (shown.at(-1)?.id ?? null) : null, prev_page: null };
  }

  async update(session: ThreadAddress, request: AnthropicSessionChange, at: string) {
    refuseFields(request, anthropicCoverage.requests['POST /sessions/{id}']);
    const { title, metadata } = request;
    await this.change(session, (data) => ({
      ...data,
      ...(title !== undefined && { title }),
      metadata: mergeMetadata(data['metadata'], metadata),
      updated_at: at,
    }));
    return this.get(session);
  }

  /** It can be read, and takes no more events. Again: the same answer. */
  async archive(session: ThreadAddress, at: string) {
    if (await this.dependencies.runs.active(session))
      throw new ApiError('thread_busy', `${session.threadId} is running: interrupt it first.`);
    await this.change(session, (data) => ({ ...data, archived_at: data['archived_at'] ?? at }));
    return this.get(session);
  }

  async listResources(session: ThreadAddress, { limit }: { readonly limit: number }) {
    const row = await this.findRow(session);
    const data = await this.dependencies.resources.show(session, row?.data);
    return { data: data.slice(0, limit), next_page: null };
  }

  async getResource(session: ThreadAddress, id: string) {
    const row = await this.findRow(session);
    const found = (await this.dependencies.resources.show(session, row?.data)).find((resource) => resource.id === id);
    if (!found) throw resourceNotFound(id);
    return found;
  }

  async addResource(session: ThreadAddress, request: AnthropicSessionResource, at: string) {
    const [added] = await this.dependencies.resources.read(session.accountId, [request], at);
    await this.change(session, (data) => {
      if (data['archived_at'] !== null) throw refuseArchived(session);
      return { ...data, resources: addResource(data, added), updated_at: at };
    });
    return this.getResource(session, added?.id ?? '');
  }

  async deleteResource(session: ThreadAddress, id: string, at: string) {
    await this.getResource(session, id);
    await this.change(session, (data) => ({ ...data, resources: withoutResource(data, id), updated_at: at }));
    return { id, type: 'session_resource_deleted' };
  }

  async delete(session: ThreadAddress) {
    await this.dependencies.threads.delete(session);
    return { id: session.threadId, type: 'session_deleted' };
  }

  async listEvents(session: ThreadAddress, query: AnthropicEventQuery) {
    await this.dependencies.threads.get(session);
    return listEvents(this.dependencies.runs, session, query);
  }

  /** Where a stream begins: after what has happened, or after the event that its client has. */
  async findStart(session: ThreadAddress, lastEventId: string | undefined): Promise<Position> {
    await this.dependencies.threads.get(session);
    const known = lastEventId === undefined ? undefined : readPosition(lastEventId);
    if (known) return known;
    const { accountId } = session;
    const newest = await this.dependencies.runs.findNewestBegun(session);
    if (!newest) return { place: 1, seq: 0, units: 0 };
    const { last_seq: seq } = await this.dependencies.runs.get({ accountId, runId: newest.id });
    return { place: newest.place, seq, units: Number.MAX_SAFE_INTEGER };
  }

  async send(session: ThreadAddress, events: readonly AnthropicUserEvent[], caller: Caller) {
    const [row] = await Promise.all([this.findRow(session), this.dependencies.threads.get(session)]);
    if (row && row.data['archived_at'] !== null) throw refuseArchived(session);
    const { runs, service, acts } = this.dependencies;
    const begin = (turn: Turn, { isTold }: { isTold: boolean }) =>
      this.begin(session, row, { ...turn, isTold, createdBy: caller.keyId });
    return sendEvents({ runs, service, acts, begin }, session, { events, caller });
  }

  /** A run at work gets no files: with those, the turn comes after it. */
  private async begin(
    { accountId, threadId: thread }: ThreadAddress,
    row: FacadeObject | undefined,
    { input, metadata, isTold = false, createdBy }: MadeTurn & { readonly isTold?: boolean },
  ): Promise<BegunTurn> {
    const definition = row && agentDefinition.parse(row.data['definition']);
    const named = row && (await this.findStoredAgent(accountId, row));
    const files = await this.dependencies.resources.findUndelivered({ accountId, threadId: thread }, row?.data);
    const isOneMessage = isTold && files.length === 0;
    const request = {
      thread_id: thread,
      input,
      metadata: isOneMessage ? {} : metadata,
      ...(files.length > 0 && { files }),
      ...(await this.readEnvironment({ accountId, threadId: thread }, row, definition)),
      on_active_run: isOneMessage ? ('steer' as const) : ('queue' as const),
      ...(named ? { agent_id: named } : definition && withDefinition({}, definition)),
    };
    const { run } = await this.dependencies.service.create(accountId, request, { createdBy });
    return { runId: run.steered?.queued_run_id ?? run.id, isOneMessage };
  }

  /** What its runs are limited to. The sessions of a deployment go on as they began. */
  private async readEnvironment(
    session: ThreadAddress,
    row: FacadeObject | undefined,
    definition: AgentDefinition | undefined,
  ): Promise<{ environment?: Environment }> {
    const hosts = storedHosts.parse(row?.data['hosts']);
    if (hosts) return { environment: limitHosts(definition?.environment, hosts) };
    if (row) return {};
    const newest = await this.dependencies.runs.current(session);
    const environment = newest?.metadata[deploymentKeys.deployment] ? newest.settings.environment : undefined;
    return environment ? { environment } : {};
  }

  /** Runs name their agent while it is what the session began with. One with MCP servers keeps their secrets, so it is named anyway. */
  private async findStoredAgent(accountId: AccountId, { data }: FacadeObject): Promise<AgentId | undefined> {
    const named = agentId.safeParse(data['stored_agent']).data;
    if (named === undefined) return undefined;
    const { agent, definition } = storedSession.parse(data);
    const isNamed =
      definition.mcp_servers !== undefined ||
      (await this.dependencies.agents.isActive({ accountId, agentId: named }, agent.version));
    return isNamed ? named : undefined;
  }

  private async beginOrDelete(session: ThreadAddress, turn: MadeTurn): Promise<void> {
    try {
      await this.begin(session, await this.findRow(session), turn);
    } catch (error) {
      await this.dependencies.threads.delete(session);
      throw error;
    }
  }

  private async resolveAgent(accountId: AccountId, given: AnthropicSessionAgent) {
    const about = typeof given === 'string' ? { id: given, type: 'agent' as const } : given;
    const { data: id } = agentId.safeParse(about.id);
    if (id === undefined) throw new ApiError('agent_not_found', `There is no agent ${about.id}.`);
    const overrides = about.type === 'agent_with_overrides' ? readOverrides(about) : undefined;
    const address = { accountId, agentId: id };
    const { snapshot, definition, isPlain } = await this.dependencies.agents.resolve(address, {
      version: about.version,
      overrides,
    });
    return { agent: snapshot, definition, ...(isPlain && { stored_agent: id }) };
  }

  private async findRow({ accountId, threadId: id }: ThreadAddress): Promise<FacadeObject | undefined> {
    const row = await this.dependencies.ids.findObject(toKind(accountId), id);
    if (!row) await this.dependencies.threads.get({ accountId, threadId: id });
    return row;
  }

  private async change(
    session: ThreadAddress,
    change: (data: FacadeObject['data']) => FacadeObject['data'],
  ): Promise<void> {
    const { accountId, threadId: id } = session;
    if (await this.dependencies.ids.changeObject(toKind(accountId), id, change)) return;
    await this.dependencies.threads.get(session);
    throw refuse('session', 'changing a thread that was begun elsewhere');
  }
}

const refuseArchived = ({ threadId: id }: ThreadAddress): ApiError =>
  new ApiError('session_archived', `${id} is archived.`);

type Overriding = Extract<AnthropicSessionAgent, { type: 'agent_with_overrides' }>;

function readOverrides(given: Overriding) {
  refuseFields(given, anthropicCoverage.requests['POST /agents']);
  const { model, system, tools } = given;
  return { model, system, tools };
}

/** The oldest run first. */
function toSession({ threadId: id }: ThreadAddress, row: FacadeObject | undefined, runs: readonly ThreadRun[]) {
  const [newest, oldest] = [runs[0], runs.at(-1)];
  const data = row?.data ?? {};
  const created_at = row?.created_at ?? oldest?.created_at;
  const isWorking = runs.some(({ status }) => !isTerminal(status)) && !runs.some(({ status }) => isWaiting(status));
  return {
    id,
    type: 'session',
    agent: data['agent'] ?? toForeignAgent(newest),
    environment_id: data['environment_id'] ?? oldest?.metadata[deploymentKeys.environment] ?? 'env_default',
    title: data['title'] ?? null,
    metadata: data['metadata'] ?? {},
    status: typeof data['archived_at'] === 'string' ? 'terminated' : isWorking ? 'running' : 'idle',
    archived_at: data['archived_at'] ?? null,
    created_at,
    updated_at: [data['updated_at'], newest?.created_at, created_at].filter(Boolean).toSorted().at(-1),
    usage: sumUsage(runs),
    stats: {},
    budget: null,
    vault_ids: [],
    outcome_evaluations: [],
    deployment_id: oldest?.metadata[deploymentKeys.deployment] ?? null,
  };
}

function toForeignAgent(run: ThreadRun | undefined) {
  const {
    model,
    tools,
    caller_tools,
    agent: { name = 'Rondo', description, system_prompt } = {},
  } = run?.settings ?? {};
  const definition = { name, description, system_prompt, model, tools, caller_tools } as AgentDefinition; // of a run's settings
  return toSnapshot(run?.agent_id ?? agentId.parse('agt_none'), { version: run?.agent_version ?? 1, definition }, name);
}

function sumUsage(runs: readonly ThreadRun[]) {
  const sum = (read: (usage: Run['usage']) => number) => runs.reduce((total, { usage }) => total + read(usage), 0);
  const isPriced = runs.every(({ usage }) => usage.cost_usd !== null);
  const cents = roundUsd(sum(({ cost_usd: cost }) => cost ?? 0) * 100);
  return {
    input_tokens: sum(({ input_tokens: all, cached_tokens: cached }) => Math.max(0, all - cached)),
    cache_read_input_tokens: sum(({ cached_tokens: cached }) => cached),
    output_tokens: sum(({ output_tokens: output }) => output),
    list_cost: isPriced ? { amount: String(cents), currency: 'USD' } : null,
  };
}
