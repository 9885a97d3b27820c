import type { Agent, AgentVersion } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { BoundedList, type Page, type PageRequest, readVersionCursor } from '../page';
import { definitionLength, toVersion, versionRow } from './agent-row';
import { type AgentAddress, changeAgents, readAgent } from './change-agent';
import { createQuery } from '../../database/checked-query';

export interface VersionAddress extends AgentAddress {
  readonly version: number;
}

interface VersionsOfAgent extends AgentAddress, PageRequest {
  readonly below?: number | undefined;
}

export interface Activation extends VersionAddress {
  readonly ifVersion?: number | undefined;
  readonly promised?: PendingKey<Agent> | undefined;
}

export interface VersionNote extends VersionAddress {
  /** Null removes it. */
  readonly note: string | null;
}

const versions = `
select each.version, each.version = agents.version as is_active, each.note, each.created_at, each.definition
from agents join agent_versions as each on each.agent_id = agents.id
where agents.account_id = $1 and agents.id = $2`;
const oneVersion = createQuery(versionRow, `${versions} and each.version = $3`);
const newestVersions = new BoundedList(
  `${versions} and each.version < $3 order by each.version desc limit $4`,
  { order: 'version desc', length: definitionLength, toKey: ({ version }) => String(version) },
  versionRow.transform(toVersion),
);

const activate = `
update agents set version = $2, name = $3, updated_at = clock_timestamp() where id = $1 and version <> $2`;

const setNote = `
update agent_versions as each set note = $4 from agents
where agents.account_id = $1 and agents.id = $2 and each.agent_id = agents.id and each.version = $3`;

/** The versions of stored agents. They never change, except for their notes, and go with their agent. */
export class AgentVersions {
  constructor(private readonly database: Database) {}

  /** Rejects with `agent_version_not_found`. */
  async get(address: VersionAddress): Promise<AgentVersion> {
    await readAgent(this.database.sql, address);
    return readVersion(this.database.sql, address);
  }

  /** Newest first. The first page begins below a version, where one is given. */
  async list({ accountId, agentId, below, after, limit }: VersionsOfAgent): Promise<Page<AgentVersion>> {
    await readAgent(this.database.sql, { accountId, agentId });
    const before = after === undefined && below !== undefined ? below : readVersionCursor(after);
    return newestVersions.page(this.database.sql, [accountId, agentId, before], limit);
  }

  /** Rejects with `agent_version_not_found`. */
  async setNote({ accountId, agentId, version, note }: VersionNote): Promise<AgentVersion> {
    await this.database.sql.query(setNote, [accountId, agentId, version, note === null ? null : toStoredText(note)]);
    return this.get({ accountId, agentId, version });
  }

  /** New runs begin with this version from now on. Rejects with `agent_changed`. */
  activate(activation: Activation): Promise<Agent> {
    const { accountId, agentId, version, ifVersion, promised } = activation;
    return changeAgents(this.database, accountId, async (agents) => {
      await agents.expect(agentId, ifVersion);
      const { definition } = await readVersion(agents.sql, activation);
      await agents.sql.query(activate, [agentId, version, toStoredText(definition.name)]);
      return storeResponse(agents.sql, promised, await agents.get(agentId));
    });
  }
}

async function readVersion(sql: Sql, { accountId, agentId, version }: VersionAddress): Promise<AgentVersion> {
  const row = await oneVersion.first(sql, [accountId, agentId, version]);
  if (!row) throw new TerminalError('agent_version_not_found', `${agentId} has no version ${version}.`);
  return toVersion(row);
}
