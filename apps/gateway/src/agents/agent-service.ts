import type { AccountId, Agent, AgentDefinition, AgentId, AgentSource, ThreadId } from '@rondo/contract';
import { type ResolvedAgent, resolveAgent, withDefinition } from '@rondo/domain';
import type { AgentAddress, Agents, PendingKey, Threads } from '@rondo/persistence';
import { InvalidRequest } from '../problems/api-error';
import type { RunSettingsResolver } from '../runs/run-settings';

export interface AgentServiceDependencies {
  readonly agents: Agents;
  readonly threads: Pick<Threads, 'get'>;
  readonly settings: RunSettingsResolver;
}

interface DeclaredFields {
  readonly definition: AgentDefinition;
  readonly is_default?: boolean | undefined;
}

interface ChangedFields extends Pick<DeclaredFields, 'is_default'> {
  readonly definition?: AgentDefinition | undefined;
  readonly if_version?: number | undefined;
}

/** Stored agents. A definition with which no run could begin on this deployment is refused when it is stored. */
export class AgentService {
  constructor(private readonly dependencies: AgentServiceDependencies) {}

  create(accountId: AccountId, fields: DeclaredFields, promised?: PendingKey<Agent>) {
    const { definition, is_default: isDefault = false } = fields;
    this.requireValid(definition);
    return this.dependencies.agents.create({ accountId, definition, isDefault, promised });
  }

  update(address: AgentAddress, { definition, is_default: isDefault, if_version: ifVersion }: ChangedFields) {
    if (definition) this.requireValid(definition);
    return this.dependencies.agents.update({ ...address, definition, isDefault, ifVersion });
  }

  apply(accountId: AccountId, { definition, is_default: isDefault }: DeclaredFields) {
    this.requireValid(definition);
    return this.dependencies.agents.apply({ accountId, definition, isDefault });
  }

  /** The agent of a run. Rejects with `agent_not_found` if the request names one that is not there. */
  async resolve(
    accountId: AccountId,
    named: { readonly agentId: AgentId | undefined; readonly threadId: ThreadId | undefined },
  ): Promise<ResolvedAgent> {
    return resolveAgent(await this.dependencies.agents.candidates({ accountId, ...named }));
  }

  /** The agent of the thread's next run, unless that names one. */
  async ofThread(accountId: AccountId, threadId: ThreadId): Promise<{ source: AgentSource; agent: Agent | null }> {
    await this.dependencies.threads.get({ accountId, threadId });
    const { source, agent } = await this.resolve(accountId, { agentId: undefined, threadId });
    return { source, agent: agent ? await this.dependencies.agents.get({ accountId, agentId: agent.id }) : null };
  }

  private requireValid(definition: AgentDefinition): void {
    const outcome = this.dependencies.settings.resolve(withDefinition({}, definition));
    if (!('problems' in outcome)) return;
    throw new InvalidRequest(outcome.problems.map(({ field, message }) => ({ field: `definition.${field}`, message })));
  }
}
