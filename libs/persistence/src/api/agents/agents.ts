import { type AccountId, type Agent, type AgentId, type NewId, agentId } from '@rondo/contract';
import { type AgentCandidates, TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { storedText } from '../../database/stored-text';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { type Page, type PageRequest, idOfCursor, pageOf } from '../page';
import { type AgentRow, activeVersion, agentColumns, agentOf } from './agent-row';
import { type AgentQuestion, agentCandidates } from './agent-candidates';
import { type AgentAddress, type SealableDefinition, changeAgents, readAgent } from './change-agent';

export interface NewAgent extends SealableDefinition {
  readonly accountId: AccountId;
  readonly isDefault: boolean;
  readonly promised?: PendingKey<Agent> | undefined;
}

export interface AgentChange extends AgentAddress {
  readonly change?: SealableDefinition | undefined;
  readonly isDefault?: boolean | undefined;
  readonly ifVersion?: number | undefined;
}

export interface DeclaredAgent extends SealableDefinition {
  readonly accountId: AccountId;
  /** Undefined leaves it as it is. */
  readonly isDefault?: boolean | undefined;
}

export interface AgentFilter extends PageRequest {
  readonly accountId: AccountId;
  /** A part of the name, in any case. */
  readonly search?: string | undefined;
}

const newestAgents = `
select ${agentColumns} from agents join ${activeVersion}
where agents.account_id = $1 and ($2::text is null or agents.id < $2)
  and ($3::text is null or position(lower($3) in lower(agents.name)) > 0)
order by agents.id desc limit $4`;

const idOfName = `select id from agents where account_id = $1 and name = $2`;
const deleteAgent = `delete from agents where id = $1`;

/** Stored agents of one account each: another account's agent does not exist (`agent_not_found`). */
export class Agents {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `agent_name_taken`. */
  create({ accountId, isDefault, promised, ...sealable }: NewAgent): Promise<Agent> {
    return changeAgents(this.database, accountId, async (agents) => {
      const id = this.nextId();
      await agents.insert(id, sealable);
      await agents.setDefault(id, isDefault);
      return storeResponse(agents.sql, promised, await agents.get(id));
    });
  }

  async get(address: AgentAddress): Promise<Agent> {
    return agentOf(await readAgent(this.database.sql, address));
  }

  /** Newest first. */
  async list({ accountId, search, after, limit }: AgentFilter): Promise<Page<Agent>> {
    const cursor = after === undefined ? null : idOfCursor(after, agentId);
    const text = search === undefined ? null : storedText(search);
    const rows = await this.database.sql.query<AgentRow>(newestAgents, [accountId, cursor, text, limit + 1]);
    return pageOf(rows.map(agentOf), limit);
  }

  /** A changed definition becomes a new version, which is then active. Rejects with `agent_changed` and `agent_name_taken`. */
  update({ accountId, agentId: id, change, isDefault, ifVersion }: AgentChange): Promise<Agent> {
    return changeAgents(this.database, accountId, async (agents) => {
      const agent = await agents.expect(id, ifVersion);
      if (change) await agents.define(agent, change);
      await agents.setDefault(id, isDefault);
      return agents.get(id);
    });
  }

  /** Creates the agent of this name, or changes it to this definition. Doing it again changes nothing. */
  apply({ accountId, isDefault, ...sealable }: DeclaredAgent): Promise<{ agent: Agent; isNew: boolean }> {
    return changeAgents(this.database, accountId, async (agents) => {
      const [known] = await agents.sql.query<{ id: string }>(idOfName, [
        accountId,
        storedText(sealable.definition.name),
      ]);
      const id = known ? agentId.parse(known.id) : this.nextId();
      if (known) await agents.define(await agents.get(id), sealable);
      else await agents.insert(id, sealable);
      await agents.setDefault(id, isDefault);
      return { agent: await agents.get(id), isNew: !known };
    });
  }

  /** With its versions. Its runs and threads stay. Rejects with `agent_is_default`. */
  delete({ accountId, agentId: id }: AgentAddress): Promise<void> {
    return changeAgents(this.database, accountId, async (agents) => {
      const { is_default: isDefault } = await agents.get(id);
      if (isDefault) throw new TerminalError('agent_is_default', `${id} is the account's default.`);
      await agents.sql.query(deleteAgent, [id]);
    });
  }

  /** The agents that could apply to a run. Rejects with `agent_not_found` if the request names one that is not there. */
  candidates(question: AgentQuestion): Promise<AgentCandidates> {
    return agentCandidates(this.database.sql, question);
  }

  private nextId(): AgentId {
    return agentId.parse(`agt_${this.newId()}`);
  }
}
