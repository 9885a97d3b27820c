import { type AccountId, type Agent, type AgentId, agentId } from '@rondo/contract';
import type { LangGraphAssistantSearch } from '@rondo/contract/api';
import type { AgentVersions, Agents, NamedAgent } from '@rondo/persistence';
import { ApiError } from '../../problems/api-error';
import type { RunSettingsResolver } from '../../settings/run-settings';
import { findNamedAgent } from '../named-agents';

/** The assistant that stands for no stored agent: its runs have what runs have by default. */
export const defaultAssistant = 'rondo';

/** What a run begins with that names an assistant. */
export interface ChosenAssistant {
  readonly agent?: AgentId;
  readonly model?: string;
}

interface LangGraphAssistantsDependencies {
  readonly agents: Pick<Agents, 'get' | 'listNames' | 'countNames' | 'findId'>;
  readonly versions: Pick<AgentVersions, 'list'>;
  readonly settings: Pick<RunSettingsResolver, 'isModelName'>;
}

/** Stored agents, as clients of LangGraph know assistants. */
export class LangGraphAssistants {
  constructor(private readonly dependencies: LangGraphAssistantsDependencies) {}

  /** A stored agent by its id or name, a model, or the default. Rejects with `agent_not_found`. */
  async choose(accountId: AccountId, name: string): Promise<ChosenAssistant> {
    const { agents, settings } = this.dependencies;
    const { data: id } = agentId.safeParse(name);
    const agent = id ? (await agents.get({ accountId, agentId: id })).id : await agents.findId(accountId, name);
    if (agent) return { agent };
    if (name === defaultAssistant) return {};
    if (settings.isModelName(name)) return { model: name };
    throw new ApiError('agent_not_found', `There is no assistant ${name}.`);
  }

  async get(accountId: AccountId, name: string) {
    const agent = await this.findAgent(accountId, name);
    if (agent) return toAssistant(toNamedAgent(agent));
    await this.choose(accountId, name);
    return toAssistant(toNamed(name));
  }

  async search(accountId: AccountId, { limit, offset, sort_by: by, sort_order: order, ...filter }: Search) {
    const sort = columns[by ?? 'created_at'];
    const range = { ...toFilter(accountId, filter), sort, order: order ?? 'desc', limit, offset };
    return (await this.dependencies.agents.listNames(range)).map(toAssistant);
  }

  count(accountId: AccountId, filter: Filter): Promise<number> {
    return this.dependencies.agents.countNames(toFilter(accountId, filter));
  }

  async listVersions(accountId: AccountId, name: string, { limit, offset }: { limit: number; offset: number }) {
    const agent = await this.findAgent(accountId, name);
    if (!agent) return [await this.get(accountId, name)].slice(offset, offset + limit);
    const found: ReturnType<typeof toAssistant>[] = [];
    const address = { accountId, agentId: agent.id, below: Math.max(0, agent.latest_version - offset + 1) };
    for (let after: string | undefined; ;) {
      const page = await this.dependencies.versions.list({ ...address, after, limit: limit - found.length });
      found.push(...page.data.map((version) => toAssistant(toNamedAgent({ ...agent, ...version }))));
      if (page.next_cursor === null || found.length >= limit) return found;
      after = page.next_cursor;
    }
  }

  /** Undefined for the name of no stored agent. */
  async findAgent(accountId: AccountId, name: string): Promise<Agent | undefined> {
    const id = await findNamedAgent(this.dependencies.agents, accountId, name);
    return id && this.dependencies.agents.get({ accountId, agentId: id });
  }
}

type Search = LangGraphAssistantSearch;
type Filter = Pick<Search, 'name' | 'graph_id'>;

const columns = {
  assistant_id: 'id',
  graph_id: 'name',
  name: 'name',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const;

const toFilter = (accountId: AccountId, { name, graph_id: graph }: Filter) => ({
  accountId,
  search: name ?? undefined,
  name: graph ?? undefined,
  besides: [toNamed(defaultAssistant)],
});

const nothing = { config: { configurable: {}, tags: [] }, context: {}, metadata: {} } as const;

function toAssistant({ id, name, version, description, created_at, updated_at }: NamedAgent) {
  return { assistant_id: id, graph_id: name, name, description, ...nothing, version, created_at, updated_at };
}

const toNamedAgent = ({ definition, ...agent }: Agent): NamedAgent => ({
  ...agent,
  name: definition.name,
  description: definition.description ?? null,
});

/** It was never created. */
const always = '2026-01-01T00:00:00.000Z';

const toNamed = (name: string): NamedAgent => ({
  id: name,
  name,
  description: null,
  version: 1,
  created_at: always,
  updated_at: always,
});

const edge = (source: string, target: string, conditional = false) => ({ source, target, conditional });

/** The loop of every agent. */
export const loopGraph = {
  nodes: ['__start__', 'agent', 'tools', '__end__'].map((id) => ({
    id,
    type: 'runnable',
    data: { id: ['rondo', id], name: id },
  })),
  edges: [
    edge('__start__', 'agent'),
    edge('agent', 'tools', true),
    edge('tools', 'agent'),
    edge('agent', '__end__', true),
  ],
} as const;

const messages = { type: 'object', properties: { messages: { type: 'array', items: { type: 'object' } } } } as const;

/** The schemas that every agent has. */
export const toSchemas = (graphId: string) => ({
  graph_id: graphId,
  input_schema: messages,
  output_schema: messages,
  state_schema: messages,
  config_schema: { type: 'object', properties: { model: { type: 'string' } } },
  context_schema: { type: 'object', properties: { model: { type: 'string' } } },
});
