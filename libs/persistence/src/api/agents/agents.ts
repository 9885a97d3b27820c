import { type AccountId, type Agent, type AgentId, type NewId, agentId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { toStoredText } from '../../database/stored-text';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import type { Page } from '../page';
import { toAgent } from './agent-row';
import { type AgentQuestion, type RunBasis, readRunBasis } from './run-basis';
import { type AgentAddress, type SealableDefinition, changeAgents, readAgent } from './change-agent';
import { type NameFilter, type NameRange, type NamedAgent, countAgentNames, listAgentNames } from './agent-names';
import { type AgentFilter, listAgents } from './list-agents';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface NewAgent extends SealableDefinition {
  readonly accountId: AccountId;
  readonly isDefault: boolean;
  readonly tags?: readonly string[] | undefined;
  readonly promised?: PendingKey<Agent> | undefined;
}

export interface AgentChange extends AgentAddress {
  readonly change?: SealableDefinition | undefined;
  /** Undefined leaves them as they are. */
  readonly isDefault?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly ifVersion?: number | undefined;
}

export interface DeclaredAgent extends SealableDefinition {
  readonly accountId: AccountId;
  /** Undefined leaves them as they are. */
  readonly isDefault?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

const idOfName = createQuery(z.object({ id: agentId }), `select id from agents where account_id = $1 and name = $2`);
/** With what the façade of Claude Managed Agents keeps of it. */
const deleteAgent = `
with kept as (
  delete from facade_ids where account_id = $2 and facade = 'anthropic' and kind = 'agent' and outer_id = $1
)
delete from agents where id = $1`;

/** Stored agents of one account each: another account's agent does not exist (`agent_not_found`). */
export class Agents {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `agent_name_taken` and `agent_quota_exceeded`. */
  create({ accountId, isDefault, tags, promised, ...sealable }: NewAgent): Promise<Agent> {
    return changeAgents(this.database, accountId, async (agents) => {
      const id = this.nextId();
      await agents.insert(id, sealable);
      await agents.setDefault(id, isDefault);
      await agents.setTags(id, tags);
      return storeResponse(agents.sql, promised, await agents.get(id));
    });
  }

  async get(address: AgentAddress): Promise<Agent> {
    return toAgent(await readAgent(this.database.sql, address));
  }

  /** Undefined where no agent has that name. */
  async findId(accountId: AccountId, name: string): Promise<AgentId | undefined> {
    return (await idOfName.first(this.database.sql, [accountId, toStoredText(name)]))?.id;
  }

  /** Newest first, unless asked otherwise. Rejects with `invalid_cursor` for one of another order. */
  list(filter: AgentFilter): Promise<Page<Agent>> {
    return listAgents(this.database.sql, filter);
  }

  /** Without definitions. */
  listNames(range: NameRange): Promise<NamedAgent[]> {
    return listAgentNames(this.database.sql, range);
  }

  countNames(filter: NameFilter): Promise<number> {
    return countAgentNames(this.database.sql, filter);
  }

  /** A changed definition becomes a new version, which is then active. Rejects like `create`, and with `agent_changed`. */
  update({ accountId, agentId: id, change, isDefault, tags, ifVersion }: AgentChange): Promise<Agent> {
    return changeAgents(this.database, accountId, async (agents) => {
      const agent = await agents.expect(id, ifVersion);
      if (change) await agents.define(agent, change);
      await agents.setDefault(id, isDefault);
      await agents.setTags(id, tags);
      return agents.get(id);
    });
  }

  /** Creates the agent of this name, or changes it to this definition. Doing it again changes nothing. */
  apply({ accountId, isDefault, tags, ...sealable }: DeclaredAgent): Promise<{ agent: Agent; isNew: boolean }> {
    return changeAgents(this.database, accountId, async (agents) => {
      const known = await idOfName.first(agents.sql, [accountId, toStoredText(sealable.definition.name)]);
      const id = known?.id ?? this.nextId();
      if (known) await agents.define(await agents.get(id), sealable);
      else await agents.insert(id, sealable);
      await agents.setDefault(id, isDefault);
      await agents.setTags(id, tags);
      return { agent: await agents.get(id), isNew: !known };
    });
  }

  /** With its versions. Its runs and threads stay. Rejects with `agent_is_default`. */
  delete({ accountId, agentId: id }: AgentAddress): Promise<void> {
    return changeAgents(this.database, accountId, async (agents) => {
      const { is_default: isDefault } = await agents.get(id);
      if (isDefault) throw new TerminalError('agent_is_default', `${id} is the account's default.`);
      await agents.sql.query(deleteAgent, [id, accountId]);
    });
  }

  /** What a run begins with. Rejects with `agent_not_found` if the request names an agent that is not there. */
  readBasis(question: AgentQuestion): Promise<RunBasis> {
    return readRunBasis(this.database.sql, question);
  }

  private nextId(): AgentId {
    return agentId.parse(`agt_${this.newId()}`);
  }
}
