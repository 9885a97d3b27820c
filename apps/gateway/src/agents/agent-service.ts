import type { AccountId, Agent, AgentDefinition, AgentId, AgentSource, ThreadId } from '@rondo/contract';
import { type ResolvedAgent, resolveAgent, listSealedServers, withDefinition, withoutSecrets } from '@rondo/domain';
import type {
  AgentAddress,
  Agents,
  PendingKey,
  RunBasis,
  SealableDefinition,
  Secrets,
  Threads,
} from '@rondo/persistence';
import { LruCache, type SecretBox } from '@rondo/platform';
import { InvalidRequest } from '../problems/api-error';
import type { RunSettingsResolver } from '../settings/run-settings';
import { validateRepositorySecret } from '../settings/validate-environment';
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

/** What a run names agents by. */
export interface AgentNames {
  readonly agentId: AgentId | undefined;
  readonly threadId: ThreadId | undefined;
}

/** The agent of a run, what its account keeps, and the revision of both. */
export interface BasisOfRun extends ResolvedAgent, Pick<RunBasis, 'settings' | 'revision'> {}

const mostKnown = 500;

const toKey = (accountId: AccountId, { agentId }: AgentNames): string => `${accountId} ${agentId ?? ''}`;

/** Stored agents. A definition with which no run could begin on this deployment is refused when it is stored. */
export class AgentService {
  /** What runs on new threads began with when it was read last. */
  private readonly known = new LruCache<string, BasisOfRun>(mostKnown);

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

  /** As it is now. Rejects with `agent_not_found` if the request names one that is not there. */
  async resolve(accountId: AccountId, named: AgentNames): Promise<BasisOfRun> {
    const { candidates, ...kept } = await this.dependencies.agents.readBasis({ accountId, ...named });
    const resolved = { ...resolveAgent(candidates), ...kept };
    if (named.threadId === undefined) this.known.set(toKey(accountId, named), resolved);
    return resolved;
  }

  /** As it was, for a run on a new thread that is created only if that has the same revision. */
  recall(accountId: AccountId, named: AgentNames): BasisOfRun | undefined {
    return named.threadId === undefined ? this.known.get(toKey(accountId, named)) : undefined;
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

  /** Throws InvalidRequest that names the fields of a definition with which no run could begin. */
  async requireValid(account: AccountId, definition: AgentDefinition): Promise<void> {
    const servers = listSealedServers(definition, {});
    const outcome = this.dependencies.settings.resolve(withDefinition({}, definition), { servers });
    const problems = 'problems' in outcome ? outcome.problems : await this.checkSecret(account, definition);
    if (problems.length === 0) return;
    throw new InvalidRequest(problems.map(({ field, message }) => ({ field: `definition.${field}`, message })));
  }

  /** A project of its runs may have another secret of the name than the account, and it may be stored later. */
  private async checkSecret(account: AccountId, { environment }: AgentDefinition) {
    const name = environment?.repository?.secret;
    if (name === undefined) return [];
    return validateRepositorySecret(environment, await this.dependencies.secrets.listPolicies(account, name));
  }
}
