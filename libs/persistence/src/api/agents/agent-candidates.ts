import { type AccountId, type AgentId, type AgentSource, type ThreadId } from '@rondo/contract';
import type { AgentCandidates } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { type ActiveRow, activeOf, activeVersion, agentNotFound } from './agent-row';

export interface AgentQuestion {
  readonly accountId: AccountId;
  /** What the request names. */
  readonly agentId?: AgentId | undefined;
  readonly threadId?: ThreadId | undefined;
}

interface CandidateRow extends ActiveRow {
  readonly source: Exclude<AgentSource, 'built_in'>;
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
select source, agents.id, agents.version, active.definition, active.sealed_headers
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
