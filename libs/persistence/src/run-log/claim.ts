import type { RunId } from '@rondo/contract';
import type { ClaimedRun, RunQueueName } from '@rondo/domain';
import { type MessageRow, messageOf } from './message-row';
import { type FactRow, type JsonRow, type RunJson, factOfJson, runOf } from './run-row';
import type { Sql } from '../database/sql';
import { historyOf } from './claim-history';

/** What is set on a run that is claimed: `owner` and `leaseMs` are SQL. */
export const claimedBy = (owner: string, leaseMs: string): string => `
    epoch = epoch + 1,
    fruitless_claims = fruitless_claims + 1,
    status = case when stop_requested_at is null then 'running' else 'stopping' end,
    lease_owner = ${owner},
    lease_expires_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'`;

/**
 * Takes those runs that are due and that nobody has a good lease on, by the database's clock (R1), in the order of their
 * ids, as every writer of many runs does. Its plan is made once, maybe while the table is empty, so it says of no partial
 * index's rows that they are that, and has the planner expect one run (see `appendStatement`).
 */
export const selectForClaim = `
with taken as (
  update runs set ${claimedBy('wanted.owner', '$3')}
  from (
    select * from unnest($1::text[], $2::text[]) as wanted (id, owner) order by id limit cardinality($1)
  ) as wanted
  where runs.id = wanted.id and queue = $4
    and holds_thread is true and status in ('queued', 'running', 'stopping')
    and (lease_expires_at is null or lease_expires_at < clock_timestamp())
  returning runs.*
)
select row_to_json(taken) as run, log.facts, thread.earlier,
  (select executor_id from sandboxes where thread_id = taken.thread_id) as executor_id
from taken ${historyOf('taken')}`;

const readPasts = `
select runs.id, log.facts, thread.earlier
from runs ${historyOf('runs')}
where runs.id = any($1::text[])`;

export interface ClaimOrder {
  readonly id: RunId;
  readonly owner: string;
}

/** A run that was taken and not read yet. */
export interface ClaimedRow {
  readonly run: RunJson;
  readonly executor_id: string | null;
}

type Taken = ClaimedRow & RunHistory;

export interface RunHistory {
  /** Null where they are too long. */
  readonly facts: readonly JsonRow<FactRow, 'at'>[] | null;
  readonly earlier: readonly JsonRow<MessageRow, 'created_at'>[];
}

/** It was taken by this claim, and then it could not be read. */
export interface UnreadableHistory {
  readonly epoch: number;
  readonly cause: unknown;
}

/** What became of each order. Of two for the same run, one succeeds. */
export async function claimRuns(
  sql: Sql,
  orders: readonly ClaimOrder[],
  { leaseMs, queue }: { leaseMs: number; queue: RunQueueName },
): Promise<readonly (ClaimedRun | UnreadableHistory | undefined)[]> {
  const [ids, owners] = [orders.map(({ id }) => id), orders.map(({ owner }) => owner)];
  const taken = await sql.query<Taken>(selectForClaim, [ids, owners, leaseMs, queue]);
  const claims = await Promise.all(taken.map((row) => claimOf(sql, row)));
  return orders.map(({ id, owner }) => {
    const index = taken.findIndex(({ run }) => run.id === id && run.lease_owner === owner);
    if (index < 0) return undefined;
    taken.splice(index, 1);
    return claims.splice(index, 1)[0];
  });
}

async function claimOf(sql: Sql, row: Taken): Promise<ClaimedRun | UnreadableHistory> {
  return claimFrom(row, async () => (isWhole(row) ? row : ((await readHistories(sql, [row]))[0] ?? row)));
}

export async function claimFrom(
  row: ClaimedRow,
  past: () => Promise<RunHistory>,
): Promise<ClaimedRun | UnreadableHistory> {
  try {
    return claimWith(row, await past());
  } catch (cause) {
    return { epoch: row.run.epoch, cause };
  }
}

function claimWith(row: ClaimedRow, { facts, earlier }: RunHistory): ClaimedRun {
  if (!facts) throw new Error('its log is too long to be read');
  const run = runOf(row.run);
  return {
    runId: run.id,
    accountId: row.run.account_id,
    threadId: run.thread_id,
    epoch: run.epoch,
    run,
    log: facts.map(factOfJson),
    earlier: earlier.map((message) => messageOf({ ...message, created_at: new Date(message.created_at) })),
    executorId: row.executor_id,
    stop:
      run.stop_requested_at === null ? undefined : { requestedAt: run.stop_requested_at, reason: row.run.stop_reason },
    fruitlessClaims: row.run.fruitless_claims - 1,
  };
}

/** A statement that waited for another writer has the run as that one left it, but its log as it was before. */
const isWhole = ({ run, facts }: Taken): boolean => facts === null || (facts.at(-1)?.seq ?? 0) === run.last_seq;

/** Of runs that are held already. */
export async function readHistories(sql: Sql, taken: readonly ClaimedRow[]): Promise<readonly RunHistory[]> {
  const rows = await sql.query<RunHistory & { id: RunId }>(readPasts, [taken.map(({ run }) => run.id)]);
  return taken.map(({ run }) => rows.find(({ id }) => id === run.id) ?? { facts: [], earlier: [] });
}
