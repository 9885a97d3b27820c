import { type AccountId, type AgentId, type AgentSource, type ThreadId, agentId } from '@rondo/contract';
import type { ActiveAgent, AgentCandidates } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { activeVersion, agentNotFound, definitionOf } from './agent-row';

export interface AgentQuestion {
  readonly accountId: AccountId;
  /** What the request names. */
  readonly agentId?: AgentId | undefined;
  readonly threadId?: ThreadId | undefined;
}

interface CandidateRow {
  readonly source: Exclude<AgentSource, 'built_in'>;
  readonly id: string;
  readonly version: number;
  readonly definition: unknown;
}

const candidates = `
with named as (
  select id, 'request' as source from agents where id = $2 and account_id = $1
  union all
  select agents.id, 'thread' from threads join agents on agents.id = threads.agent_id and agents.account_id = $1
  where threads.id = $3 and threads.account_id = $1
  union all
  select id, 'account' from agents where account_id = $1 and is_default
)
select source, agents.id, agents.version, active.definition
from named join agents on agents.id = named.id join ${activeVersion}`;

/** The agents that could apply to a run. Rejects with `agent_not_found` if the request names one that is not there. */
export async function agentCandidates(
  sql: Sql,
  { accountId, agentId: named, threadId }: AgentQuestion,
): Promise<AgentCandidates> {
  const rows = await sql.query<CandidateRow>(candidates, [accountId, named ?? null, threadId ?? null]);
  if (named !== undefined && !rows.some(({ source }) => source === 'request')) throw agentNotFound(named);
  return Object.fromEntries(rows.map((row) => [row.source, activeOf(row)]));
}

const activeOf = ({ id, version, definition }: CandidateRow): ActiveAgent => ({
  id: agentId.parse(id),
  version,
  definition: definitionOf(definition),
});
