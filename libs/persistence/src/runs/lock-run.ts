import { type AccountId, type RunId, TerminalError } from '@rondo/domain';
import type { RunRow } from '../run-row';
import type { Sql } from '../sql';

export interface RunAddress {
  readonly accountId: AccountId;
  readonly runId: RunId;
}

const lockedRun = `select * from runs where id = $1 and account_id = $2 for no key update`;

/** The run's row, which nobody else can write until the transaction ends. */
export async function lockRun(sql: Sql, { accountId, runId }: RunAddress): Promise<RunRow> {
  const [row] = await sql.query<RunRow>(lockedRun, [runId, accountId]);
  if (!row) throw runNotFound(runId);
  return row;
}

const runById = `select * from runs where id = $1`;

export async function readRun(sql: Sql, id: RunId): Promise<RunRow> {
  const [row] = await sql.query<RunRow>(runById, [id]);
  if (!row) throw runNotFound(id);
  return row;
}

export const runNotFound = (id: RunId): TerminalError => new TerminalError('run_not_found', `There is no run ${id}.`);
