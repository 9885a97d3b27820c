import type { AccountId, Agent, AgentDefinition, AgentId } from '@rondo/contract';
import {
  type AnthropicAgentChange,
  type AnthropicModel,
  type NewAnthropicAgent,
  anthropicCoverage,
} from '@rondo/contract/api';
import { TerminalError } from '@rondo/domain';
import type { AgentAddress, AgentVersions, Agents, FacadeIds, FacadeObject } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import type { AgentService } from '../../agents/agent-service';
import { ApiError } from '../../problems/api-error';
import type { RunSettingsResolver } from '../../settings/run-settings';
import { type FieldNames, withFieldNames } from '../facade-input';
import { toModelName } from '../facade-models';
import { refuse, refuseFields } from './anthropic-errors';
import { readTools, toTools } from './anthropic-tools';

const toKind = (accountId: AccountId) => ({ accountId, facade: 'anthropic', kind: 'agent' });

interface AnthropicAgentsDependencies {
  readonly agents: Pick<Agents, 'get' | 'list'>;
  readonly versions: Pick<AgentVersions, 'get' | 'list'>;
  readonly service: Pick<AgentService, 'create' | 'update' | 'requireValid'>;
  readonly ids: Pick<FacadeIds, 'addObject' | 'findObject' | 'changeObject'>;
  readonly settings: Pick<RunSettingsResolver, 'isModelName'>;
}

/** Fields of a definition under the names that they have in an agent. */
const fieldNames: FieldNames = [
  [/^definition\.(agent\.)?caller_tools\b.*$/, 'tools'],
  [/^definition\.(agent\.)?system_prompt$/, 'system'],
  [/^definition\./, ''],
];
/** The same in a session, whose agent has parts of its own. */
const overrideNames: FieldNames = fieldNames.map(([field, name]) => [field, `agent.${name}`]);

/** A version of an agent as it was stored. */
interface Stored {
  readonly version: number;
  readonly definition: AgentDefinition;
  readonly createdAt: string;
}

/** Parts that a session may have of its own. */
type Overrides = Pick<AnthropicAgentChange, 'model' | 'system' | 'tools'>;

/** Stored agents as clients of Claude Managed Agents have them. Beside its definition an agent has only metadata and a name there. */
export class AnthropicAgents {
  constructor(private readonly dependencies: AnthropicAgentsDependencies) {}

  async create(accountId: AccountId, request: NewAnthropicAgent) {
    refuseFields(request, anthropicCoverage.requests['POST /agents']);
    const { name, metadata = {} } = request;
    const definition = this.change({ name }, request);
    const agent = await withFieldNames(fieldNames, () =>
      withFreeName(definition, (named) => this.dependencies.service.create(accountId, { definition: named })),
    );
    const data = { name, metadata, archived_at: null };
    await this.dependencies.ids.addObject(toKind(accountId), { id: agent.id, data, isThread: false });
    return this.get({ accountId, agentId: agent.id });
  }

  async get(address: AgentAddress, version?: number) {
    const agent = await this.dependencies.agents.get(address);
    return this.show(address.accountId, agent, await this.readVersion(address, agent, version));
  }

  async list(accountId: AccountId, page: { limit: number; page?: string | undefined; withArchived: boolean }) {
    const { limit, page: after, withArchived } = page;
    const { data, next_cursor: next } = await this.dependencies.agents.list({ accountId, limit, after });
    const shown = await Promise.all(data.map((agent) => this.show(accountId, agent, activeVersion(agent))));
    return { data: shown.filter(({ archived_at: at }) => withArchived || at === null), next_page: next };
  }

  async listVersions(address: AgentAddress, { limit, page: after }: { limit: number; page?: string | undefined }) {
    const agent = await this.dependencies.agents.get(address);
    const { data, next_cursor: next } = await this.dependencies.versions.list({ ...address, limit, after });
    const versions = data.map(({ version, definition, created_at: createdAt }) => ({ version, definition, createdAt }));
    return {
      data: await Promise.all(versions.map((each) => this.show(address.accountId, agent, each))),
      next_page: next,
    };
  }

  /** Absent parts stay, null clears, entries of metadata are merged. The same definition makes no version. */
  async update(address: AgentAddress, request: AnthropicAgentChange) {
    refuseFields(request, anthropicCoverage.requests['POST /agents']);
    const { accountId, agentId } = address;
    const agent = await this.dependencies.agents.get(address);
    const row = await this.ensureRow(accountId, agent);
    if (row.data['archived_at'] !== null) throw new ApiError('agent_archived', `${agentId} is archived.`);
    const { version: ifVersion, name, metadata } = request;
    const changed = this.change(agent.definition, request);
    await withFieldNames(fieldNames, () =>
      withFreeName(changed, (definition) =>
        this.dependencies.service.update(address, { definition, if_version: ifVersion }),
      ),
    );
    await this.dependencies.ids.changeObject(toKind(accountId), agentId, (data) => ({
      ...data,
      ...(name !== undefined && { name }),
      metadata: mergeMetadata(data['metadata'], metadata),
    }));
    return this.get(address);
  }

  /** Again: the same answer. */
  async archive(address: AgentAddress, at: string) {
    await this.ensureRow(address.accountId, await this.dependencies.agents.get(address));
    await this.dependencies.ids.changeObject(toKind(address.accountId), address.agentId, (data) => ({
      ...data,
      archived_at: data['archived_at'] ?? at,
    }));
    return this.get(address);
  }

  /** The agent of a new session: what it is called there, and the definition of its runs. */
  async resolve(
    address: AgentAddress,
    { version, overrides }: { version: number | undefined; overrides: Overrides | undefined },
  ) {
    const agent = await this.dependencies.agents.get(address);
    const stored = await this.readVersion(address, agent, version);
    const shown = await this.show(address.accountId, agent, stored);
    if (shown.archived_at !== null) throw new ApiError('agent_archived', `${address.agentId} is archived.`);
    const definition = overrides ? this.change(stored.definition, overrides) : stored.definition;
    if (definition.mcp_servers !== undefined && (overrides || stored.version !== agent.version))
      throw refuse('agent', 'another version of an agent with MCP servers');
    if (overrides)
      await withFieldNames(overrideNames, () => this.dependencies.service.requireValid(address.accountId, definition));
    const snapshot = toSnapshot(address.agentId, { ...stored, definition }, shown.name);
    return { snapshot, definition, isPlain: overrides === undefined };
  }

  /** Whether runs that name the agent begin with this version. False for an agent that is no longer there. */
  async isActive(address: AgentAddress, version: unknown): Promise<boolean> {
    try {
      return (await this.dependencies.agents.get(address)).version === version;
    } catch (error) {
      if (error instanceof TerminalError) return false;
      throw error;
    }
  }

  /** The definition with the parts that are named. */
  private change(
    before: AgentDefinition,
    { name, description, model, system, tools }: AnthropicAgentChange,
  ): AgentDefinition {
    const { description: oldDescription, system_prompt: oldSystem, ...rest } = before;
    const newDescription = description === undefined ? oldDescription : description;
    const newSystem = system === undefined ? oldSystem : system;
    return {
      ...rest,
      ...(newDescription && { description: newDescription }),
      ...(newSystem && { system_prompt: newSystem }),
      ...(name !== undefined && { name }),
      ...(model !== undefined && this.toModel(model, before)),
      ...(tools !== undefined || before.tools === undefined ? toTools(tools ?? []) : {}),
    };
  }

  private toModel(given: AnthropicModel, { llm }: AgentDefinition): Pick<AgentDefinition, 'model' | 'llm'> {
    const { id, effort, speed, inference_geo } =
      typeof given === 'string' ? { id: given, effort: null, speed: null, inference_geo: null } : given;
    if (speed === 'fast') throw refuse('model.speed', '"fast"');
    if (inference_geo) throw refuse('model.inference_geo', 'a region');
    const model = toModelName(id, 'anthropic', this.dependencies.settings);
    const { reasoning_effort: _, ...others } = llm ?? {};
    const reasoning_effort = typeof effort === 'string' ? effort : effort?.type;
    return { model, llm: { ...others, ...(reasoning_effort && { reasoning_effort }) } };
  }

  private async readVersion(address: AgentAddress, agent: Agent, version: number | undefined): Promise<Stored> {
    if (version === undefined || version === agent.version) return activeVersion(agent);
    const { definition, created_at: createdAt } = await this.dependencies.versions.get({ ...address, version });
    return { version, definition, createdAt };
  }

  private async ensureRow(accountId: AccountId, { id, definition: { name } }: Agent): Promise<FacadeObject> {
    const data = { name, metadata: {}, archived_at: null };
    await this.dependencies.ids.addObject(toKind(accountId), { id, data, isThread: false });
    const row = await this.dependencies.ids.findObject(toKind(accountId), id);
    return row ?? { id, data, created_at: '' };
  }

  private async show(accountId: AccountId, agent: Agent, stored: Stored) {
    const row = await this.dependencies.ids.findObject(toKind(accountId), agent.id);
    const { name = stored.definition.name, metadata = {}, archived_at = null } = row?.data ?? {};
    return {
      ...toSnapshot(agent.id, stored, String(name)),
      metadata,
      archived_at,
      created_at: agent.created_at,
      updated_at: stored.version === agent.version ? agent.updated_at : stored.createdAt,
    };
  }
}

const activeVersion = ({ version, definition, updated_at: createdAt }: Agent): Stored => ({
  version,
  definition,
  createdAt,
});

/** An agent as a session shows it. */
export function toSnapshot(id: AgentId, { version, definition }: Pick<Stored, 'version' | 'definition'>, name: string) {
  const { description = null, system_prompt: system = null, model, llm } = definition;
  const effort = llm?.reasoning_effort;
  return {
    id,
    type: 'agent' as const,
    version,
    name,
    description,
    system,
    model: { id: model ?? 'default', speed: 'standard', ...(effort && { effort: { type: effort } }) },
    tools: readTools(definition),
    mcp_servers: [],
    skills: [],
    multiagent: null,
    execution_identity: { type: 'service_account' as const },
  };
}

/** Names are not unique there, and here they are: a taken one gets an ending that its client does not see. */
async function withFreeName<Result>(
  definition: AgentDefinition,
  store: (definition: AgentDefinition) => Promise<Result>,
): Promise<Result> {
  try {
    return await store(definition);
  } catch (error) {
    if (!(error instanceof TerminalError) || error.code !== 'agent_name_taken') throw error;
    return store({ ...definition, name: `${definition.name.slice(0, 170)} ${newUlid()}` });
  }
}

/** Null removes an entry. Throws for more entries than an object may have. */
export function mergeMetadata(
  before: unknown,
  change: Readonly<Record<string, string | null>> | null | undefined,
): Record<string, string> {
  const merged = { ...(before as Record<string, string> | undefined), ...change };
  const kept = Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== null);
  if (kept.length > 16) throw new ApiError('malformed_request', 'metadata: must have at most 16 entries');
  return Object.fromEntries(kept);
}
