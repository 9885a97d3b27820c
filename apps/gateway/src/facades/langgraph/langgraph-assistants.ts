import { type AccountId, type Agent, type AgentId, agentId } from '@rondo/contract';
import type { LangGraphAssistantSearch } from '@rondo/contract/api';
import type { AgentVersions, Agents } from '@rondo/persistence';
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

const pageSize = 200;

interface LangGraphAssistantsDependencies {
  readonly agents: Pick<Agents, 'get' | 'list' | 'findId'>;
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
    if (agent) return toAssistant(agent);
    await this.choose(accountId, name);
    return toNamed(name);
  }

  async search(accountId: AccountId, { name, graph_id: graph, limit, offset, ...order }: LangGraphAssistantSearch) {
    const { sort_by: by, sort_order: direction } = order;
    const found = (await this.listAll(accountId)).filter(
      (assistant) =>
        matches(assistant.name, name) && (graph === undefined || graph === null || assistant.graph_id === graph),
    );
    const key = by ?? 'created_at';
    const sorted = found.toSorted((a, b) => a[key].localeCompare(b[key]));
    return ((direction ?? 'desc') === 'desc' ? sorted.toReversed() : sorted).slice(offset, offset + limit);
  }

  async count(accountId: AccountId, filter: Pick<LangGraphAssistantSearch, 'name' | 'graph_id'>): Promise<number> {
    return (await this.search(accountId, { ...filter, limit: Infinity, offset: 0 })).length;
  }

  async listVersions(accountId: AccountId, name: string, { limit, offset }: { limit: number; offset: number }) {
    const agent = await this.findAgent(accountId, name);
    if (!agent) return [await this.get(accountId, name)].slice(offset, offset + limit);
    const { data } = await this.dependencies.versions.list({ accountId, agentId: agent.id, limit: offset + limit });
    return data.slice(offset).map(({ version, created_at, definition }) => ({
      ...toAssistant({ ...agent, definition }),
      version,
      created_at,
    }));
  }

  /** Undefined for the name of no stored agent. */
  async findAgent(accountId: AccountId, name: string): Promise<Agent | undefined> {
    const id = await findNamedAgent(this.dependencies.agents, accountId, name);
    return id && this.dependencies.agents.get({ accountId, agentId: id });
  }

  private async listAll(accountId: AccountId) {
    return [...(await this.listAgents(accountId)).map(toAssistant), toNamed(defaultAssistant)];
  }

  private async listAgents(accountId: AccountId): Promise<readonly Agent[]> {
    const agents: Agent[] = [];
    for (let after: string | undefined; ;) {
      const page = await this.dependencies.agents.list({ accountId, limit: pageSize, after });
      agents.push(...page.data);
      if (page.next_cursor === null) return agents;
      after = page.next_cursor;
    }
  }
}

const matches = (name: string, wanted: string | null | undefined): boolean =>
  wanted === undefined || wanted === null || name.toLowerCase().includes(wanted.toLowerCase());

const nothing = { config: { configurable: {}, tags: [] }, context: {}, metadata: {} } as const;

function toAssistant({ id, version, created_at, updated_at, definition }: Agent) {
  const { name, description = null } = definition;
  return { assistant_id: id as string, graph_id: name, name, description, ...nothing, version, created_at, updated_at };
}

/** It was never created. */
const always = '2026-01-01T00:00:00.000Z';

function toNamed(name: string): ReturnType<typeof toAssistant> {
  const about = { version: 1, created_at: always, updated_at: always };
  return { assistant_id: name, graph_id: name, name, description: null, ...nothing, ...about };
}

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
