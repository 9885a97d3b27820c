import type { Run, RunId } from '@rondo/contract';
import type { Database } from '../../database/database';
import { toRun, runRow } from '../../run-log/run-row';
import { checked } from '../../database/checked-query';

const tracedRun = checked(runRow, `select * from runs where id = $1 and trace_id is not null`);

/** A run of any account, for the span of it; undefined if it is not traced. */
export async function readTracedRun({ sql }: Database, id: RunId): Promise<Run | undefined> {
  const row = await tracedRun.first(sql, [id]);
  return row && toRun(row);
}
