import type { Run, RunId } from '@rondo/contract';
import type { Database } from '../../database/database';
import { type RunRow, runOf } from '../../run-log/run-row';

const tracedRun = `select * from runs where id = $1 and trace_id is not null`;

/** A run of any account, for the span of it; undefined if it is not traced. */
export async function readTracedRun({ sql }: Database, id: RunId): Promise<Run | undefined> {
  const [row] = await sql.query<RunRow>(tracedRun, [id]);
  return row && runOf(row);
}
