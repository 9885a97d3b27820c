import type { AccountId, Agent, AgentDefinition, AgentId, AgentSource, ThreadId } from '@rondo/contract';
import { type ResolvedAgent, resolveAgent, sealedServers, withDefinition, withoutSecrets } from '@rondo/domain';
import type {
  AgentAddress,
  Agents,
  PendingKey,
  RunBasis,
  SealableDefinition,
  Secrets,
  Threads,
} from '@rondo/persistence';
import type { SecretBox } from '@rondo/platform';
import { InvalidRequest } from '../problems/api-error';
import type { RunSettingsResolver } from '../runs/run-settings';
import { validateRepositorySecret } from '../runs/validate-environment';
import { sealHeaders } from './seal-headers';

export interface AgentServiceDependencies {
  readonly agents: Agents;
  readonly threads: Pick<Threads, 'get'>;
  readonly settings: RunSettingsResolver;
  /** Absent: headers of MCP servers are refused. */
  readonly box: SecretBox | undefined;
  readonly secrets: Pick<Secrets, 'listPolicies'>;
}

interface DeclaredFields {
  readonly definition: AgentDefinition;
  readonly is_default?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly note?: string | undefined;
}

interface ChangedFields extends Omit<DeclaredFields, 'definition'> {
  readonly definition?: AgentDefinition | undefined;
  readonly if_version?: number | undefined;
}

/** Stored agents. A definition with which no run could begin on this deployment is refused when it is stored. */
export class AgentService {
  constructor(private readonly dependencies: AgentServiceDependencies) {}

  async create(accountId: AccountId, fields: DeclaredFields, promised?: PendingKey<Agent>) {
    const { is_default: isDefault = false, tags } = fields;
    const sealable = await this.sealable(accountId, fields);
    return this.dependencies.agents.create({ accountId, ...sealable, isDefault, tags, promised });
  }

  async update(address: AgentAddress, { definition, note, ...fields }: ChangedFields) {
    const { is_default: isDefault, if_version: ifVersion, tags } = fields;
    const change = definition && (await this.sealable(address.accountId, { definition, note }));
    return this.dependencies.agents.update({ ...address, change, isDefault, tags, ifVersion });
  }

  async apply(accountId: AccountId, fields: DeclaredFields) {
    const { is_default: isDefault, tags } = fields;
    return this.dependencies.agents.apply({ accountId, ...(await this.sealable(accountId, fields)), isDefault, tags });
  }

  /** The agent of a run, and what its account keeps. Rejects with `agent_not_found` if the request names one that is not there. */
  async resolve(
    accountId: AccountId,
    named: { readonly agentId: AgentId | undefined; readonly threadId: ThreadId | undefined },
  ): Promise<ResolvedAgent & Pick<RunBasis, 'settings'>> {
    const { candidates, settings } = await this.dependencies.agents.readBasis({ accountId, ...named });
    return { ...resolveAgent(candidates), settings };
  }

  /** The agent of the thread's next run, unless that names one. */
  async ofThread(accountId: AccountId, threadId: ThreadId): Promise<{ source: AgentSource; agent: Agent | null }> {
    await this.dependencies.threads.get({ accountId, threadId });
    const { source, agent } = await this.resolve(accountId, { agentId: undefined, threadId });
    return { source, agent: agent ? await this.dependencies.agents.get({ accountId, agentId: agent.id }) : null };
  }

  /** Its secrets are sealed in the transaction that stores it, since some may be those that are kept already. */
  private async sealable(
    account: AccountId,
    { definition, note }: Pick<DeclaredFields, 'definition' | 'note'>,
  ): Promise<SealableDefinition> {
    await this.requireValid(account, definition);
    const { box: secrets } = this.dependencies;
    return {
      definition: withoutSecrets(definition),
      note,
      sealHeaders: (kept) => sealHeaders(definition, kept, { account, secrets }),
    };
  }

  private async requireValid(account: AccountId, definition: AgentDefinition): Promise<void> {
    const servers = sealedServers(definition, {});
    const outcome = this.dependencies.settings.resolve(withDefinition({}, definition), { servers });
    const problems =
      'problems' in outcome
        ? outcome.problems
        : await validateRepositorySecret(definition.environment, this.dependencies.secrets, account);
    if (problems.length === 0) return;
    throw new InvalidRequest(problems.map(({ field, message }) => ({ field: `definition.${field}`, message })));
  }
}
