import {
  type AwaitedChild,
  type CallId,
  type NewId,
  type RecordedFact,
  type Run,
  type RunId,
  runId,
} from '@rondo/contract';
import { type ChildEnd, collectChildren } from '@rondo/domain';
import type { Database } from '../../../database/database';
import type { Sql } from '../../../database/sql';
import { activateRun } from '../../../database/run-activation';
import { writeFacts } from '../../../run-log/group-commit';
import { type RunRow, toRun, runRow } from '../../../run-log/run-row';
import { toAgentResult } from '../agent-result';
import { readOpenCalls } from '../open-calls';
import { readCallsOfResult, readFinalTexts } from '../read-runs';
import { z } from 'zod';
import { createQuery } from '../../../database/checked-query';
import { readableJson } from '../../../database/stored-text';

const lockedParent = createQuery(
  runRow,
  `select * from runs where id = $1 and status = 'waiting_child' for no key update`,
);

/**
 * Gives a run that waits for its child runs the results of those that are over, and queues it again after the last one.
 * By however many processes, and however often it is called: the lock and the log make each result arrive once. Publish the facts and what is in
 * the outbox.
 */
export const collectEndedChildren = (
  database: Database,
  newId: NewId,
  parent: RunId,
): Promise<readonly RecordedFact[]> =>
  database.transaction(async (sql) => {
    const row = await lockedParent.first(sql, [parent]);
    if (!row || row.stop_requested_at !== null) return [];
    const run = toRun(row);
    const awaited = run.waiting?.child_runs ?? [];
    const ends = await readEnds(sql, awaited);
    if (ends.size === 0) return [];

    const told = collectChildren(await readOpenCalls(sql, newId, run), awaited, ends);
    if (told.length === 0) return [];
    const claim = { runId: run.id, threadId: run.thread_id, epoch: run.epoch };
    const facts = await writeFacts(sql, claim, { facts: told, newId });
    if (told.some(({ type }) => type === 'run.resumed')) await activateRun(sql, run.id);
    return facts;
  });

const childRows = createQuery(runRow, `select * from runs where id = any($1::text[])`);

async function readEnds(sql: Sql, awaited: readonly AwaitedChild[]): Promise<ReadonlyMap<CallId, ChildEnd>> {
  const rows = await childRows.all(sql, [awaited.map(({ run_id }) => run_id)]);
  const ends = new Map<CallId, ChildEnd>();
  for (const { run_id, tool_call_id } of awaited) {
    const row = rows.find(({ id }) => id === run_id);
    if (!row) ends.set(tool_call_id, { runId: run_id, status: 'deleted', text: '', problem: null, durationMs: 0 });
    else if (row.finished_at !== null) ends.set(tool_call_id, await readEnd(sql, row));
  }
  return ends;
}

async function readEnd(sql: Sql, row: RunRow): Promise<ChildEnd> {
  const run = toRun(row);
  const result = toAgentResult(run, await readFinalTexts(sql, run), await readCallsOfResult(sql, run));
  const problem = result.success ? null : toProblem(run, row.stop_reason, result.error);
  const status = run.status as ChildEnd['status']; // it is over
  return { runId: run.id, status, text: result.result.response, problem, durationMs: result.metrics.duration_ms };
}

function toProblem({ status, error }: Run, stopReason: string | null, why: string | null): string {
  if (status === 'failed') return error ? `${error.code}: ${error.message}` : 'it does not say why.';
  if (status === 'stopped') return stopReason ?? 'no reason was given.';
  return why ?? 'it does not say why.';
}

/** Also of a child that was deleted. */
const parentsToResume = createQuery(
  z.object({ id: runId }),
  `
select distinct parent.id
from runs as parent cross join json_array_elements(${readableJson('parent.waiting')}->'child_runs') as awaited
left join runs as child on child.id = awaited->>'run_id'
where parent.waiting is not null and parent.status = 'waiting_child' and (child.id is null or child.finished_at is not null)
limit 100`,
);

/** Parents whose children ended and were not told of it: a process died in between. */
export const parentsOfEndedChildren = async (sql: Sql): Promise<readonly RunId[]> =>
  (await parentsToResume.all(sql)).map(({ id }) => id);
