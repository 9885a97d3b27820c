import type { AccountId, RecordedFact, Run } from '@rondo/domain';
import { activated, outboxOf } from '../run-store/activation';
import type { Sql } from '../sql';

export interface RunToInsert {
  readonly accountId: AccountId;
  readonly run: Run;
  /** `run.created`, and the input's `message.created` where the run does not wait with it. */
  readonly facts: readonly RecordedFact[];
  readonly isNewThread: boolean;
  /** What a run that waits behind another one was given; JSON. Undefined for one that takes the thread. */
  readonly waitsWith: string | null | undefined;
}

/**
 * Everything that a run begins with. Inserts nothing when the run would hold a thread that another run holds, or for
 * which another has waited longer.
 */
const beginRun = `
created as (
  insert into runs
    (id, account_id, thread_id, status, last_seq, profile, model, settings, metadata, created_at, queued_input, holds_thread, activation, activated_at)
  select $1, $2, $3, 'queued', $4, $5, $6, $7, $8, $9, $10, $11::boolean, $11::boolean::int, case when $11::boolean then clock_timestamp() end
  where not $11::boolean
    or not exists (select from runs where thread_id = $3 and not holds_thread and finished_at is null)
  on conflict (thread_id) where holds_thread do nothing
  returning ${activated}
),
new_event as (
  insert into run_events (run_id, seq, id, type, iteration, epoch, at, data)
  select created.id, fact.seq, fact.id, fact.type, 0, 0, $9, fact.data
  from created, (values (1, $12, 'run.created', $13::json), (2, $14, 'message.created', $15::json)) as fact(seq, id, type, data)
  where fact.seq <= $4
),
new_message as (
  insert into messages (id, thread_id, run_id, seq, type, is_llm_message, content, created_at)
  select $16, $3, created.id, $17, 'user', true, $18, $9 from created where $4 = 2
),
woken as (${outboxOf('created where activation > 0')})
select id from created`;

const onNewThread = `
with thread as (insert into threads (id, account_id, last_message_seq) values ($3, $2, coalesce($17::int, 0))), ${beginRun}`;

const onThread = `
with thread as (update threads set last_message_seq = $17 where id = $3 and $4 = 2), ${beginRun}`;

/** One statement, the same for every run. False when another run has the thread. */
export async function insertRun(sql: Sql, wanted: RunToInsert): Promise<boolean> {
  const { run, accountId, facts, isNewThread, waitsWith } = wanted;
  const [created, said] = facts;
  const message = said?.type === 'message.created' ? said.data.message : undefined;
  const rows = await sql.query(isNewThread ? onNewThread : onThread, [
    run.id,
    accountId,
    run.thread_id,
    run.last_seq,
    run.profile,
    run.model,
    JSON.stringify(run.settings),
    JSON.stringify(run.metadata),
    run.created_at,
    waitsWith ?? null,
    waitsWith === undefined,
    created?.id,
    created && JSON.stringify(created.data),
    said?.id,
    said && JSON.stringify(said.data),
    message?.id,
    message?.seq,
    message && JSON.stringify(message.content),
  ]);
  return rows.length > 0;
}
