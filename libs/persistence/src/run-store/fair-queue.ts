import type { RunQueueName, ServedAccount } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { type ClaimedRow, claimedWorkspace, setClaim } from './claim-runs';

/** Bounds one statement. With more accounts, the next one continues after the last account. */
const maxAccounts = 256;
/** More candidates than claims, because other processes may lock some of them first. */
const spareCandidates = 64;

/** The predicate and order of the index `runs_in_line`: naming its order makes the planner use it at any table size. */
const isIndexed = 'holds_thread and waiting is null';
const indexOrder = 'order by account_id, due_since';

/** Expired leases are left to the reaper. */
const isDue = (run: string) =>
  `${run}.holds_thread and ${run}.waiting is null and ${run}.queue = $3 and ${run}.lease_owner is null`;

/**
 * Claims a run for each owner, as long as runs are due. Of each account it reads only the runs that are due longest, by
 * the index. Candidates are ranked by how many runs their account would hold with them, so that the claims of one
 * statement are spread over accounts too.
 */
export const claimNextFair = `
with recursive account as (
  (select account_id, 1 as number from runs where ${isIndexed} and account_id > $4 ${indexOrder} limit 1)
  union all
  (select following.account_id, account.number + 1
  from account cross join lateral (
    select account_id from runs where ${isIndexed} and account_id > account.account_id ${indexOrder} limit 1
  ) as following
  where account.number < ${maxAccounts})
),
candidate as materialized (
  select head.id, row_number() over (
    order by coalesce(served.held, 0) + head.number, coalesce(served.turn, 0), head.due_since, head.id
  ) as rank
  from account
  left join unnest($5::text[], $6::int[]) with ordinality as served (account_id, held, turn)
    on served.account_id = account.account_id
  cross join lateral (
    select id, due_since, row_number() over (order by due_since, id) as number
    from (
      select id, due_since from runs where account_id = account.account_id and ${isDue('runs')}
      ${indexOrder} limit cardinality($1::text[]) + ${spareCandidates}
    ) as due
  ) as head
  order by rank limit cardinality($1::text[]) + ${spareCandidates}
),
wanted as materialized (
  select runs.id, candidate.rank
  from (select * from candidate order by rank limit cardinality($1::text[]) + ${spareCandidates}) as candidate
  join runs on runs.id = candidate.id
  where ${isDue('runs')}
  order by candidate.rank limit cardinality($1::text[]) for no key update of runs skip locked
),
claimed as (
  update runs set ${setClaim('claimant.owner', '$2')}
  from (select id, row_number() over (order by rank) as number from wanted) as next
  join unnest($1::text[]) with ordinality as claimant (owner, number) on claimant.number = next.number
  where runs.id = next.id
  returning runs.*, next.number
)
select row_to_json(claimed) as run, ${claimedWorkspace},
  (select account_id from account order by number desc offset ${maxAccounts - 1} limit 1) as last_account
from (values (true)) as always left join claimed on true order by number`;

export interface NextOrder {
  readonly owner: string;
  readonly served: () => readonly ServedAccount[];
}

/** A single row with null when nothing is due, to report how far the accounts were scanned. */
interface ScanRow {
  readonly run: ClaimedRow['run'] | null;
  readonly workspace_id: ClaimedRow['workspace_id'];
  readonly executor_id: string | null;
  readonly last_account: string | null;
}

/** Claims the runs of one queue so that accounts take turns. Remembers where to continue when one statement cannot read all accounts. */
export class FairQueue {
  /** The last account that was read; empty at the start of each cycle over the accounts. */
  private scannedThrough = '';

  constructor(
    private readonly sql: Sql,
    private readonly options: { readonly leaseMs: number; readonly queue: RunQueueName },
  ) {}

  /** Returns a run for each order while runs are due. The newest order knows best which accounts were served. */
  async claim(orders: readonly NextOrder[]): Promise<readonly (ClaimedRow | undefined)[]> {
    const claimed: ClaimedRow[] = [];
    for (let ends = this.scannedThrough === '' ? 1 : 2; ends > 0 && claimed.length < orders.length;) {
      claimed.push(...(await this.claimBatch(orders.slice(claimed.length))));
      if (this.scannedThrough === '') ends -= 1;
    }
    return orders.map((_, index) => claimed[index]);
  }

  private async claimBatch(orders: readonly NextOrder[]): Promise<readonly ClaimedRow[]> {
    const served = orders.at(-1)?.served() ?? [];
    const rows = await this.sql.query<ScanRow>(claimNextFair, [
      orders.map(({ owner }) => owner),
      this.options.leaseMs,
      this.options.queue,
      this.scannedThrough,
      served.map(({ accountId }) => accountId),
      served.map(({ held }) => held),
    ]);
    this.scannedThrough = rows[0]?.last_account ?? '';
    return rows.flatMap(({ run, workspace_id, executor_id }) => (run ? [{ run, workspace_id, executor_id }] : []));
  }
}
