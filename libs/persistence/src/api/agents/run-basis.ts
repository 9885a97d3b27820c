import type { AccountId, AccountSettings, AgentId, ThreadId } from '@rondo/contract';
import type { AgentCandidates } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { toActive, activeRow, activeVersion, agentNotFound } from './agent-row';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../database/checked-query';
import { accountNotFound } from '../billing/balance-row';

export interface AgentQuestion {
  readonly accountId: AccountId;
  /** What the request names. */
  readonly agentId?: AgentId | undefined;
  readonly threadId?: ThreadId | undefined;
}

/** What a run of an account begins with: the agents that could apply to it, and what the account keeps for its runs. */
export interface RunBasis {
  readonly candidates: AgentCandidates;
  readonly settings: AccountSettings;
  /** Another one as soon as anything of this changes for runs on new threads. */
  readonly revision: string;
}

/** A run was not created, because what its settings come from has changed since it was read. */
export class BasisChanged extends Error {}

/**
 * The present revision as an expression of SQL: of a run of this account that names this agent, or null. `xmin` tells two changes of
 * one millisecond apart, and the times those of a database from those of its restored backup.
 */
export const basisRevision = (account: string, named: string): string => {
  const agentWhere = (which: string) => `(
      select concat(agents.id, ' ', agents.version, ' ', extract(epoch from agents.updated_at))
      from agents where agents.account_id = accounts.id and ${which}
    )`;
  return `(
  select concat(accounts.xmin, ' ', extract(epoch from accounts.settings_updated_at), ' ',
    case when ${named} is null then ${agentWhere('agents.is_default')} else ${agentWhere(`agents.id = ${named}`)} end
  ) from accounts where accounts.id = ${account}
)`;
};

const basisRow = z.object({
  settings: jsonDocument<AccountSettings>().nullable(),
  revision: z.string(),
  /** Null where no agent applies. */
  source: z.enum(['request', 'thread', 'account']).nullable(),
  agent: activeRow.nullable(),
});

const selectBasis = createQuery(
  basisRow,
  `
with named as (
  select id, 'request' as source from agents where id = $2 and account_id = $1
  union all
  select agents.id, 'thread' from threads join agents on agents.id = threads.agent_id and agents.account_id = $1
  where threads.id = $3 and threads.account_id = $1
  union all
  select id, 'account' from agents where account_id = $1 and is_default
),
candidate as (
  select source, json_build_object(
    'id', agents.id, 'version', agents.version, 'definition', active.definition, 'sealed_headers', active.sealed_headers
  ) as agent
  from named join agents on agents.id = named.id join ${activeVersion}
)
select accounts.settings, ${basisRevision('$1', '$2::text')} as revision, source, agent
from accounts left join candidate on true where accounts.id = $1`,
);

/** Rejects with `account_not_found`, and with `agent_not_found` if the request names one that is not there. */
export async function readRunBasis(
  sql: Sql,
  { accountId, agentId: named, threadId }: AgentQuestion,
): Promise<RunBasis> {
  const rows = await selectBasis.all(sql, [accountId, named ?? null, threadId ?? null]);
  const [first] = rows;
  if (!first) throw accountNotFound(accountId);
  if (named !== undefined && !rows.some(({ source }) => source === 'request')) throw agentNotFound(named);
  const found = rows.flatMap(({ source, agent }) => (source && agent ? [[source, toActive(agent)]] : []));
  const candidates = Object.fromEntries(found) as AgentCandidates; // sources are its keys
  return { candidates, settings: first.settings ?? {}, revision: first.revision };
}
