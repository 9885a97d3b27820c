import { type MessageId, type NewId, type RecordedFact, type ThreadId, userContent } from '@rondo/contract';
import { z } from 'zod';
import type { Database } from '../../database/database';
import { type RunRow, toRun } from '../../run-log/run-row';
import { toOutbox } from '../../database/run-activation';
import { writeFacts } from '../../run-log/group-commit';
import { createQuery } from '../../database/checked-query';
import { violates } from '../../database/sql-error';
import { fileMetadata, readFileNotes } from '../files/run-files';
import { inputFact } from './input-message';
import { supersedeTurn } from './supersede-turn';

const hasQueuedRun = createQuery(z.object({ found: z.boolean() }), 'select has_queued_run($1) as found');

const promoteNextSql = `
with next as materialized (
  select id, queued_input from runs
  where thread_id = $1 and not holds_thread and finished_at is null
    and not exists (select from runs as holder where holder.thread_id = $1 and holder.holds_thread)
  order by goes_first desc, id limit 1 for no key update
),
promoted as (
  update runs set
    holds_thread = true, queued_input = null, past_through = (select last_message_seq from threads where id = $1),
    activation = activation + 1, activated_at = clock_timestamp()
  from next where runs.id = next.id
  returning runs.*, next.queued_input as input
),
queued_jobs as (${toOutbox('promoted')})
select * from promoted`;

/** Calls `promote` if a run is queued on the thread. */
export async function promoteNext(
  database: Database,
  newId: NewId,
  threadId: ThreadId,
): Promise<readonly RecordedFact[] | undefined> {
  const queued = await hasQueuedRun.first(database.sql, [threadId]);
  return queued?.found ? promote(database, newId, threadId) : undefined;
}

/**
 * Makes the next queued run of a free thread its active run, and adds its input to the thread. A replacement goes first,
 * then the run that is queued longest. Resolves to its facts, or to undefined if none was promoted.
 */
export async function promote(
  database: Database,
  newId: NewId,
  threadId: ThreadId,
): Promise<readonly RecordedFact[] | undefined> {
  try {
    return await database.transaction(async (sql) => {
      const [row] = await sql.query<RunRow & { input: unknown; edits_message_id: MessageId | null }>(promoteNextSql, [
        threadId,
      ]);
      if (!row) return undefined;
      if (row.input === null) return []; // a run without input

      const run = toRun(row);
      const { edits_message_id: messageId } = row;
      if (messageId !== null) await supersedeTurn(sql, { threadId, messageId, by: run.id });
      const content = userContent.parse(row.input);
      const metadata = fileMetadata(await readFileNotes(sql, run.id));
      const input = inputFact({ runId: run.id, threadId, iteration: 0, content, metadata }, newId);
      return writeFacts(sql, { runId: run.id, threadId, epoch: run.epoch }, { facts: [input], newId });
    });
  } catch (error) {
    if (violates(error, 'runs_one_active_per_thread')) return undefined; // another run became active first
    throw error;
  }
}

const strandedThreads = `
select distinct waiting.thread_id as id from runs as waiting
where not waiting.holds_thread and waiting.finished_at is null
  and not exists (select from runs as holder where holder.thread_id = waiting.thread_id and holder.holds_thread)
limit 100`;

/**
 * Promotes the runs that a crash between the end of a run and the promotion of the next has left queued. If a thread
 * fails, the others are still served, and the call rejects afterwards.
 */
export async function promoteStranded(
  database: Database,
  newId: NewId,
  promoted: (facts: readonly RecordedFact[]) => void,
): Promise<number> {
  const failures: unknown[] = [];
  let count = 0;
  for (const { id } of await database.sql.query<{ id: ThreadId }>(strandedThreads)) {
    try {
      const facts = await promoteNext(database, newId, id);
      if (!facts) continue;
      promoted(facts);
      count += 1;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'queued runs could not be promoted');
  return count;
}
