import type { RunId, ThreadId } from '@rondo/contract';
import { type ClaimedRun, NewerRunError, type RunQueueName, unknownParts } from '@rondo/domain';
import { type MessageRow, toMessage } from '../run-log/message-row';
import { type FactRow, type JsonRow, type RunJson, factOfJson, readStop, toRun, toWorkspace } from '../run-log/run-row';
import type { Sql } from '../database/sql';
import { toHistory } from '../run-log/claim-history';

/** The assignments that claim a run; `owner` and `leaseMs` are SQL expressions. */
export const setClaim = (owner: string, leaseMs: string): string => `
    epoch = epoch + 1,
    fruitless_claims = fruitless_claims + 1,
    status = case when stop_requested_at is null then 'running' else 'stopping' end,
    lease_owner = ${owner},
    lease_expires_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'`;

/** What a claim reads of the workspace of its run. */
export const claimedWorkspace = `${toWorkspace('claimed.project_id', 'claimed.thread_id')} as workspace_id,
  (select executor_id from sandboxes
    where sandboxes.thread_id = ${toWorkspace('claimed.project_id', 'claimed.thread_id')}) as executor_id`;

/**
 * Claims due runs without a valid lease, by the clock of the database. It locks them in the order of their ids, as every
 * writer of many runs does. The plan is made once, when the table may be empty: `holds_thread is true` matches the
 * predicate of no partial index, and the limit makes the planner expect one run (see `appendStatement`).
 */
export const selectForClaim = `
with claimed as (
  update runs set ${setClaim('wanted.owner', '$3')}
  from (
    select * from unnest($1::text[], $2::text[]) as wanted (id, owner) order by id limit cardinality($1)
  ) as wanted
  where runs.id = wanted.id and queue = $4
    and holds_thread is true and status in ('queued', 'running', 'stopping')
    and (lease_expires_at is null or lease_expires_at < clock_timestamp())
  returning runs.*
)
select row_to_json(claimed) as run, log.facts, thread.earlier,
  ${claimedWorkspace}
from claimed ${toHistory('claimed')}`;

const selectHistories = `
select runs.id, log.facts, thread.earlier
from runs ${toHistory('runs')}
where runs.id = any($1::text[])`;

export interface ClaimOrder {
  readonly id: RunId;
  readonly owner: string;
}

/** A run that was claimed and whose history was not read yet. */
export interface ClaimedRow {
  readonly run: RunJson;
  readonly workspace_id: ThreadId;
  readonly executor_id: string | null;
}

type ClaimedWithHistory = ClaimedRow & RunHistory;

export interface RunHistory {
  /** Null where they are too long. */
  readonly facts: readonly JsonRow<FactRow, 'at'>[] | null;
  readonly earlier: readonly JsonRow<MessageRow, 'created_at'>[];
}

/** The run was claimed, but its history could not be read. */
export interface UnreadableHistory {
  readonly epoch: number;
  readonly cause: unknown;
}

/** Returns one result per order. Of two orders for the same run, one succeeds. */
export async function claimRuns(
  sql: Sql,
  orders: readonly ClaimOrder[],
  { leaseMs, queue }: { leaseMs: number; queue: RunQueueName },
): Promise<readonly (ClaimedRun | UnreadableHistory | undefined)[]> {
  const [ids, owners] = [orders.map(({ id }) => id), orders.map(({ owner }) => owner)];
  const rows = await sql.query<ClaimedWithHistory>(selectForClaim, [ids, owners, leaseMs, queue]);
  const claims = await Promise.all(rows.map((row) => readClaim(sql, row)));
  return orders.map(({ id, owner }) => {
    const index = rows.findIndex(({ run }) => run.id === id && run.lease_owner === owner);
    if (index < 0) return undefined;
    rows.splice(index, 1);
    return claims.splice(index, 1)[0];
  });
}

async function readClaim(sql: Sql, row: ClaimedWithHistory): Promise<ClaimedRun | UnreadableHistory> {
  return claimFrom(row, async () => (isWhole(row) ? row : ((await readHistories(sql, [row]))[0] ?? row)));
}

export async function claimFrom(
  row: ClaimedRow,
  history: () => Promise<RunHistory>,
): Promise<ClaimedRun | UnreadableHistory> {
  try {
    return claimWith(row, await history());
  } catch (cause) {
    return { epoch: row.run.epoch, cause };
  }
}

function claimWith(row: ClaimedRow, { facts, earlier }: RunHistory): ClaimedRun {
  if (!facts) throw new Error('the log of the run is too long to be read');
  const run = toRun(row.run);
  const unknown = unknownParts(run, facts);
  if (unknown.length > 0) throw new NewerRunError(run.id, unknown, run.stop_requested_at !== null);
  return {
    runId: run.id,
    accountId: row.run.account_id,
    threadId: run.thread_id,
    workspaceId: row.workspace_id,
    epoch: run.epoch,
    run,
    log: facts.map(factOfJson),
    earlier: earlier.map((message) => toMessage({ ...message, created_at: new Date(message.created_at) })),
    executorId: row.executor_id,
    toolSet: row.run.tool_set,
    stop: readStop(row.run),
    fruitlessClaims: row.run.fruitless_claims - 1,
    mayHaveMessages: row.run.raised_in_epoch !== null,
    queuedSince: row.run.activated_at ?? undefined,
  };
}

/** A statement that waited for a lock sees the run as the other writer left it, but the log as of its own start. */
const isWhole = ({ run, facts }: ClaimedWithHistory): boolean =>
  facts === null || (facts.at(-1)?.seq ?? 0) === run.last_seq;

/** Reads the histories of runs that were claimed before. */
export async function readHistories(sql: Sql, runs: readonly ClaimedRow[]): Promise<readonly RunHistory[]> {
  const rows = await sql.query<RunHistory & { id: RunId }>(selectHistories, [runs.map(({ run }) => run.id)]);
  return runs.map(({ run }) => rows.find(({ id }) => id === run.id) ?? { facts: [], earlier: [] });
}
