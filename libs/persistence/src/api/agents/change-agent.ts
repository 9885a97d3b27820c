import { type AccountId, type Agent, type AgentDefinition, type AgentId } from '@rondo/contract';
import { type SealedHeaders, TerminalError, isSameJson } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { violates } from '../../database/sql-error';
import { toStoredText } from '../../database/stored-text';
import { lockAccount } from '../lock-account';
import {
  type AgentRow,
  activeVersion,
  agentColumns,
  agentNotFound,
  toAgent,
  agentRow,
  toSealedHeaders,
} from './agent-row';
import { z } from 'zod';
import { anyJson, createQuery } from '../../database/checked-query';

export interface AgentAddress {
  readonly accountId: AccountId;
  readonly agentId: AgentId;
}

/** A definition without secrets, and what makes its sealed headers of those that the version before it keeps. */
export interface SealableDefinition {
  readonly definition: AgentDefinition;
  readonly sealHeaders?: ((kept: SealedHeaders) => SealedHeaders) | undefined;
  /** Of the version that it makes. */
  readonly note?: string | undefined;
}

/** What an account may have of agents, and the bytes in which all their versions are stored. */
export const agentQuotas = { agents: 10_000, bytes: 256 * 1024 * 1024 };

const useOfAccount = createQuery(
  z.object({ agents: z.number(), bytes: z.number() }),
  `
select count(distinct agents.id)::int as agents,
  coalesce(sum(pg_column_size(each.definition) + coalesce(pg_column_size(each.sealed_headers), 0)), 0)::float8 as bytes
from agents join agent_versions as each on each.agent_id = agents.id where agents.account_id = $1`,
);

const noHeaders = (): SealedHeaders => ({});
const toStoredNote = (note: string | undefined): string | null => (note === undefined ? null : toStoredText(note));
const toStoredHeaders = (sealed: SealedHeaders): string | null =>
  Object.keys(sealed).length === 0 ? null : JSON.stringify(sealed);

const oneAgent = createQuery(
  agentRow,
  `
select ${agentColumns} from agents join ${activeVersion} where agents.account_id = $1 and agents.id = $2`,
);

const insertAgent = `
with made as (insert into agents (id, account_id, name) values ($1, $2, $3))
insert into agent_versions (agent_id, version, definition, sealed_headers, note) values ($1, 1, $4, $5, $6)`;

const insertVersion = `
with changed as (
  update agents set name = $2, version = latest_version + 1, latest_version = latest_version + 1, updated_at = clock_timestamp()
  where id = $1 returning latest_version
)
insert into agent_versions (agent_id, version, definition, sealed_headers, note)
select $1, latest_version, $3, $4, $5 from changed`;

const headersOfVersion = createQuery(
  z.object({ sealed_headers: anyJson }),
  `select sealed_headers from agent_versions where agent_id = $1 and version = $2`,
);

const clearDefault = `
update agents set is_default = false, updated_at = clock_timestamp() where account_id = $1 and is_default and id <> $2`;
const setDefault = `
update agents set is_default = $3, updated_at = clock_timestamp() where account_id = $1 and id = $2 and is_default <> $3`;

const setTags = `
update agents set tags = $3, updated_at = clock_timestamp() where account_id = $1 and id = $2 and tags <> $3::text[]`;

/**
 * The agents of an account inside a transaction that has locked the account, so that they change one at a time: names,
 * versions and the default cannot race.
 */
export class AgentChanges {
  constructor(
    readonly sql: Sql,
    private readonly accountId: AccountId,
  ) {}

  async get(agentId: AgentId): Promise<Agent> {
    const row = await readAgent(this.sql, { accountId: this.accountId, agentId });
    return toAgent(row);
  }

  /** The agent as a request knows it. Rejects with `agent_changed` if another version is active now. */
  async expect(agentId: AgentId, ifVersion: number | undefined): Promise<Agent> {
    const agent = await this.get(agentId);
    if (ifVersion === undefined || ifVersion === agent.version) return agent;
    throw new TerminalError('agent_changed', `${agentId} has version ${agent.version} now, not ${ifVersion}.`);
  }

  async insert(id: AgentId, { definition, sealHeaders = noHeaders, note }: SealableDefinition): Promise<void> {
    const values = [id, this.accountId, toStoredText(definition.name), JSON.stringify(definition)];
    await this.sql.query(insertAgent, [...values, toStoredHeaders(sealHeaders({})), toStoredNote(note)]);
    await this.requirePlace();
  }

  /** The same definition with the same headers makes no new version, and needs no note. */
  async define(earlier: Agent, { definition, sealHeaders = noHeaders, note }: SealableDefinition): Promise<void> {
    const { id, version } = earlier;
    const row = await headersOfVersion.first(this.sql, [id, version]);
    const kept = toSealedHeaders(row?.sealed_headers);
    const sealed = sealHeaders(kept);
    if (isSameJson(earlier.definition, definition) && isSameJson(kept, sealed)) return;
    const values = [id, toStoredText(definition.name), JSON.stringify(definition), toStoredHeaders(sealed)];
    await this.sql.query(insertVersion, [...values, toStoredNote(note)]);
    await this.requirePlace();
  }

  async setDefault(id: AgentId, isDefault: boolean | undefined): Promise<void> {
    if (isDefault === undefined) return;
    if (isDefault) await this.sql.query(clearDefault, [this.accountId, id]);
    await this.sql.query(setDefault, [this.accountId, id, isDefault]);
  }

  async setTags(id: AgentId, tags: readonly string[] | undefined): Promise<void> {
    if (tags !== undefined) await this.sql.query(setTags, [this.accountId, id, tags.map(toStoredText)]);
  }

  /** After a version was added, because only Postgres knows how long it is there. */
  private async requirePlace(): Promise<void> {
    const { agents = 0, bytes = 0 } = (await useOfAccount.first(this.sql, [this.accountId])) ?? {};
    if (agents > agentQuotas.agents)
      throw new TerminalError('agent_quota_exceeded', `An account may have ${agentQuotas.agents} agents.`);
    if (bytes > agentQuotas.bytes)
      throw new TerminalError(
        'agent_quota_exceeded',
        `The agents of an account can have ${agentQuotas.bytes} bytes together, with all versions. Delete some.`,
      );
  }
}

export async function changeAgents<T>(
  database: Database,
  accountId: AccountId,
  work: (changes: AgentChanges) => Promise<T>,
): Promise<T> {
  try {
    return await database.transaction(async (sql) => {
      await lockAccount(sql, accountId);
      return work(new AgentChanges(sql, accountId));
    });
  } catch (error) {
    if (!violates(error, 'agents_account_id_name_key')) throw error;
    throw new TerminalError('agent_name_taken', 'Another agent of the account has this name.');
  }
}

export async function readAgent(sql: Sql, { accountId, agentId }: AgentAddress): Promise<AgentRow> {
  const row = await oneAgent.first(sql, [accountId, agentId]);
  if (!row) throw agentNotFound(agentId);
  return row;
}
