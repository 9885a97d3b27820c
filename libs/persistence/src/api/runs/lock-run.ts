import type { AccountId, RunId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { RunRow } from '../../run-log/run-row';
import type { Sql } from '../../database/sql';
import { createQuery } from '../../database/checked-query';
import { runRow } from '../../run-log/run-row';

export interface RunAddress {
  readonly accountId: AccountId;
  readonly runId: RunId;
}

/** A run of a deleted thread is not found. */
const lockedRun = createQuery(
  runRow,
  `
select runs.* from runs join threads on threads.id = thread_id
where runs.id = $1 and runs.account_id = $2 and deleted_at is null
for no key update of runs`,
);

/** Locks the run's row until the transaction ends. */
export async function lockRun(sql: Sql, { accountId, runId }: RunAddress): Promise<RunRow> {
  const row = await lockedRun.first(sql, [runId, accountId]);
  if (!row) throw runNotFound(runId);
  return row;
}

const runById = createQuery(runRow, `select * from runs where id = $1`);

export async function readRun(sql: Sql, id: RunId): Promise<RunRow> {
  const row = await runById.first(sql, [id]);
  if (!row) throw runNotFound(id);
  return row;
}

export const runNotFound = (id: RunId): TerminalError => new TerminalError('run_not_found', `There is no run ${id}.`);
