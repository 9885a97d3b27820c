import type { RunQueueName, ServedAccount } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { type ClaimedRow, claimedBy } from './claim';

/** What bounds a look. Where more accounts have runs, the next look goes on behind the last one. */
const mostAccounts = 256;
/** Other processes may be taking what is next just now. */
const spare = 64;

/** What the index `runs_in_line` holds, in its order: to name the order has it chosen whatever the tables hold. */
const inLine = 'holds_thread and waiting is null';
const inOrder = 'order by account_id, due_since';

/** A lease that ran out is the reaper's to judge. */
const isDue = (run: string) =>
  `${run}.holds_thread and ${run}.waiting is null and ${run}.queue = $3 and ${run}.lease_owner is null`;

/**
 * Takes as many runs as there are owners, or as many as are due. Of each account it looks at the head of its line alone, by
 * the index. A run counts for as many as its account would hold with it, so that a group of claims takes turns too.
 */
export const claimNextFair = `
with recursive account as (
  (select account_id, 1 as number from runs where ${inLine} and account_id > $4 ${inOrder} limit 1)
  union all
  (select following.account_id, account.number + 1
  from account cross join lateral (
    select account_id from runs where ${inLine} and account_id > account.account_id ${inOrder} limit 1
  ) as following
  where account.number < ${mostAccounts})
),
candidate as materialized (
  select head.id, row_number() over (
    order by coalesce(served.held, 0) + head.number, coalesce(served.turn, 0), head.due_since, head.id
  ) as place
  from account
  left join unnest($5::text[], $6::int[]) with ordinality as served (account_id, held, turn)
    on served.account_id = account.account_id
  cross join lateral (
    select id, due_since, row_number() over (order by due_since, id) as number
    from (
      select id, due_since from runs where account_id = account.account_id and ${isDue('runs')}
      ${inOrder} limit cardinality($1::text[]) + ${spare}
    ) as line
  ) as head
  order by place limit cardinality($1::text[]) + ${spare}
),
wanted as materialized (
  select runs.id, candidate.place
  from (select * from candidate order by place limit cardinality($1::text[]) + ${spare}) as candidate
  join runs on runs.id = candidate.id
  where ${isDue('runs')}
  order by candidate.place limit cardinality($1::text[]) for no key update of runs skip locked
),
taken as (
  update runs set ${claimedBy('claimant.owner', '$2')}
  from (select id, row_number() over (order by place) as number from wanted) as next
  join unnest($1::text[]) with ordinality as claimant (owner, number) on claimant.number = next.number
  where runs.id = next.id
  returning runs.*, next.number
)
select row_to_json(taken) as run, (select executor_id from sandboxes where thread_id = taken.thread_id) as executor_id,
  (select account_id from account order by number desc offset ${mostAccounts - 1} limit 1) as last_account
from (values (true)) as look left join taken on true order by number`;

export interface NextOrder {
  readonly owner: string;
  readonly served: () => readonly ServedAccount[];
}

/** One row where nothing is due, too: that has been seen as well. */
interface Look {
  readonly run: ClaimedRow['run'] | null;
  readonly executor_id: string | null;
  readonly last_account: string | null;
}

/** The lines of one queue. It remembers how far it has looked where there are more accounts than one look sees. */
export class FairQueue {
  /** Empty at the beginning, and again behind the last one. */
  private lookedThrough = '';

  constructor(
    private readonly sql: Sql,
    private readonly options: { readonly leaseMs: number; readonly queue: RunQueueName },
  ) {}

  /** For each order a run, as long as there are some. What was served is known best by the order that came last. */
  async take(orders: readonly NextOrder[]): Promise<readonly (ClaimedRow | undefined)[]> {
    const taken: ClaimedRow[] = [];
    for (let ends = this.lookedThrough === '' ? 1 : 2; ends > 0 && taken.length < orders.length;) {
      taken.push(...(await this.takeSome(orders.slice(taken.length))));
      if (this.lookedThrough === '') ends -= 1;
    }
    return orders.map((_, index) => taken[index]);
  }

  private async takeSome(orders: readonly NextOrder[]): Promise<readonly ClaimedRow[]> {
    const served = orders.at(-1)?.served() ?? [];
    const looks = await this.sql.query<Look>(claimNextFair, [
      orders.map(({ owner }) => owner),
      this.options.leaseMs,
      this.options.queue,
      this.lookedThrough,
      served.map(({ accountId }) => accountId),
      served.map(({ held }) => held),
    ]);
    this.lookedThrough = looks[0]?.last_account ?? '';
    return looks.flatMap(({ run, executor_id }) => (run ? [{ run, executor_id }] : []));
  }
}
