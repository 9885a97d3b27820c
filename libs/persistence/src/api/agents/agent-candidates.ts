import { type AccountId, type AgentId, type ThreadId } from '@rondo/contract';
import type { AgentCandidates } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { toActive, activeRow, activeVersion, agentNotFound } from './agent-row';
import { z } from 'zod';
import { checked } from '../../database/checked-query';

export interface AgentQuestion {
  readonly accountId: AccountId;
  /** What the request names. */
  readonly agentId?: AgentId | undefined;
  readonly threadId?: ThreadId | undefined;
}

const candidateRow = activeRow.extend({
  source: z.enum(['request', 'thread', 'account']),
});

const candidates = checked(
  candidateRow,
  `
with named as (
  select id, 'request' as source from agents where id = $2 and account_id = $1
  union all
  select agents.id, 'thread' from threads join agents on agents.id = threads.agent_id and agents.account_id = $1
  where threads.id = $3 and threads.account_id = $1
  union all
  select id, 'account' from agents where account_id = $1 and is_default
)
select source, agents.id, agents.version, active.definition, active.sealed_headers
from named join agents on agents.id = named.id join ${activeVersion}`,
);

/** The agents that could apply to a run. Rejects with `agent_not_found` if the request names one that is not there. */
export async function agentCandidates(
  sql: Sql,
  { accountId, agentId: named, threadId }: AgentQuestion,
): Promise<AgentCandidates> {
  const rows = await candidates.all(sql, [accountId, named ?? null, threadId ?? null]);
  if (named !== undefined && !rows.some(({ source }) => source === 'request')) throw agentNotFound(named);
  return Object.fromEntries(rows.map((row) => [row.source, toActive(row)]));
}
