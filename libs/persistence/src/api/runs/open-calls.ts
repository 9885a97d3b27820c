import { type CallId, type NewId, type Run, type RunId, type ThreadId, callId, messageId } from '@rondo/contract';
import { type AnswerContext, type Ledger, callsAfter } from '@rondo/domain';
import { toFact, factRow } from '../../run-log/run-row';
import { z } from 'zod';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { createQuery } from '../../database/checked-query';

const toolFactsOfIteration = createQuery(
  factRow,
  `
select id, seq, type, run_id, $3 as thread_id, iteration, epoch, at, data
from run_events where run_id = $1 and iteration = $2 and (type like 'tool.%' or type like 'approval.%') order by seq`,
);

/** The tool calls of a run's iteration, for a process that answers them instead of the run's worker. The row must be locked. */
export async function readOpenCalls(sql: Sql, newId: NewId, run: Run): Promise<AnswerContext> {
  const { id, thread_id: threadId, iteration } = run;
  const calls = await readCalls(sql, { id, threadId, iteration });
  const ids = { messageId: () => messageId.parse(`msg_${newId()}`) };
  return { run: { id, threadId }, state: { iteration, calls }, ports: { ids } };
}

const idsOfRun = createQuery(z.object({ id: callId }), `select id from tool_calls where run_id = $1`);

/** Reads the ids of all calls that the ledger has of the run. */
export async function readCallIds({ sql }: Pick<Database, 'sql'>, run: RunId): Promise<readonly CallId[]> {
  return (await idsOfRun.all(sql, [run])).map(({ id }) => id);
}

async function readCalls(sql: Sql, { id, threadId, iteration }: { id: RunId; threadId: ThreadId; iteration: number }) {
  const rows = await toolFactsOfIteration.all(sql, [id, iteration, threadId]);
  return rows.map(toFact).reduce<Ledger>(callsAfter, new Map());
}
