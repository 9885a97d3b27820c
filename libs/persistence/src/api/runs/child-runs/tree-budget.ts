import { type NewId, type RecordedFact, type RunId, type RunSettings, maxTokenSum, runId } from '@rondo/contract';
import type { TreeBudget } from '@rondo/domain';
import type { Database } from '../../../database/database';
import type { Sql } from '../../../database/sql';
import { activateRun } from '../../../database/run-activation';
import { writeFacts } from '../../../run-log/group-commit';
import { toRun, runRow } from '../../../run-log/run-row';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../../database/checked-query';
import { readableJson } from '../../../database/stored-text';

/** `least` leaves out a null: a sum of no rows would be the most that there is. */
const toSum = (column: string): string => `least(coalesce(sum(${column}), 0), ${maxTokenSum}) as ${column}`;

const spentRow = z.object({
  budget: jsonDocument<RunSettings['budget']>(),
  input_tokens: z.number(),
  cached_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number(),
});

/** The cost of a run is null once the price of a call is unknown; such a run counts with its tokens only. */
const spentByOthers = createQuery(
  spentRow,
  `
select ${readableJson('root.settings')}->'budget' as budget, spent.*
from runs as root cross join lateral (
  select ${toSum('input_tokens')}, ${toSum('cached_tokens')}, ${toSum('output_tokens')}, coalesce(sum(cost_usd), 0) as cost_usd
  from (
    select id, input_tokens, cached_tokens, output_tokens, cost_usd from runs where root_run_id = root.id
    union all
    select root.id, root.input_tokens, root.cached_tokens, root.output_tokens, root.cost_usd
  ) as members where id <> $2
) as spent
where root.id = $1`,
);

/** What a tree may spend, and what its runs but this one have spent; undefined without a budget of its first run. */
export async function findTreeBudget(
  sql: Sql,
  { rootRunId, runId }: { rootRunId: RunId; runId: RunId },
): Promise<TreeBudget | undefined> {
  const row = await spentByOthers.first(sql, [rootRunId, runId]);
  if (!row || (row.budget.usd === undefined && row.budget.tokens === undefined)) return undefined;
  const { budget, ...spent } = row;
  return { rootRunId, budget, spentByOthers: spent };
}

const allowed = `${readableJson('root.settings')}->'budget'`;
const awaited = `${readableJson('waiter.waiting')}->'budget'`;

/** Runs that wait for the budget of their tree as it was, and it has been raised since. */
const waitersForRaised = createQuery(
  z.object({ id: runId }),
  `
select waiter.id from runs as waiter join runs as root on root.id = ${awaited}->>'root_run_id'
where waiter.waiting is not null and waiter.status = 'waiting_budget' and waiter.stop_requested_at is null
  and ($1::text is null or root.id = $1)
  and (
    (${allowed}->>'usd')::float8 is distinct from (${awaited}->>'usd')::float8
    or (${allowed}->>'tokens')::float8 is distinct from (${awaited}->>'tokens')::float8
  )
limit 100`,
);

const lockedWaiter = createQuery(
  runRow,
  `
select * from runs where id = $1 and status = 'waiting_budget' and stop_requested_at is null for no key update`,
);

/** Queues the runs of a tree, or of all trees, that waited for less than their tree may spend now. */
export async function resumeForTreeBudget(
  database: Database,
  newId: NewId,
  rootRunId?: RunId,
): Promise<readonly RecordedFact[]> {
  const waiters = await waitersForRaised.all(database.sql, [rootRunId ?? null]);
  const facts: RecordedFact[] = [];
  for (const { id } of waiters) facts.push(...(await resume(database, newId, id)));
  return facts;
}

const resume = (database: Database, newId: NewId, id: RunId): Promise<readonly RecordedFact[]> =>
  database.transaction(async (sql) => {
    const row = await lockedWaiter.first(sql, [id]);
    if (!row) return [];
    const { thread_id: threadId, epoch, iteration } = toRun(row);
    const resumed = { type: 'run.resumed' as const, iteration, data: { reason: 'budget' } };
    const facts = await writeFacts(sql, { runId: id, threadId, epoch }, { facts: [resumed], newId });
    await activateRun(sql, id);
    return facts;
  });
