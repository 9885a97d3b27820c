import type { Message } from '@rondo/contract';
import { processTools, serverToolMark } from '@rondo/domain';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../database/checked-query';
import type { Sql } from '../database/sql';
import { type MessageRow, readShownMessage } from './message-row';
import type { JsonRow } from './run-row';

/** A claim reads at most the newest 16 MiB of earlier messages: no model accepts more. */
const maxEarlierBytes = 16 * 1024 * 1024;
/** A run whose own facts are longer cannot be claimed. */
const maxLogBytes = 128 * 1024 * 1024;

const isVisibleTo = (run: string) => `(run_id = ${run}.id or seq <= ${run}.past_through)`;

/** The iteration in which a message joined the run. User messages have none, so they count to that of the message before. */
const toIteration = (run: string, message: string) => `
  coalesce(${message}.iteration, (
    select before.iteration from messages as before
    where before.thread_id = ${run}.thread_id and before.seq < ${message}.seq and before.run_id = ${run}.id and before.iteration is not null
    order by before.thread_id desc, before.seq desc limit 1
  ), 0)`;

/**
 * The latest summary, the first and last message of the range that it replaces, and the newest user message, which is
 * sent even when it is in that range (see `toContext`). Iterations are those of the run; -1 stands for another run's.
 */
const latestSummary = (run: string) => `
select head.seq as head, tail.seq as tail, kept.seq as kept, newest.seq as summary_seq,
  case when head.run_id = ${run}.id then ${toIteration(run, 'head')} else -1 end as head_iteration,
  case when tail.run_id = ${run}.id then ${toIteration(run, 'tail')} else -1 end as tail_iteration,
  case when kept.run_id = ${run}.id then ${toIteration(run, 'kept')} end as kept_iteration
from (
  select seq, metadata #>> '{covers,from_message_id}' as head_id, metadata #>> '{covers,to_message_id}' as tail_id
  from messages
  where thread_id = ${run}.thread_id and type = 'summary' and is_llm_message and ${isVisibleTo(run)}
  order by thread_id desc, seq desc limit 1
) as newest
join messages as head on head.id = newest.head_id and head.thread_id = ${run}.thread_id
join messages as tail on tail.id = newest.tail_id and tail.thread_id = ${run}.thread_id
left join lateral (
  select seq, iteration, run_id from messages
  where thread_id = ${run}.thread_id and seq < newest.seq and type = 'user' and is_llm_message and ${isVisibleTo(run)}
  order by thread_id desc, seq desc limit 1
) as kept on true`;

/** A stop ends what calls have left running, also calls of completed iterations (`leavesProcesses`). */
const isStartOfProcesses = `(type = 'tool.started' and (
        data ->> 'name' in (${processTools.map((name) => `'${name}'`).join(', ')})
        or position('${serverToolMark}' in data ->> 'name') > 0))`;

/** Of the tools that the model has found or called, all later requests have the definitions. Its result need not be parsed for that. */
const loadsTools = `(type in ('tool.planned', 'tool.completed') and position('"loaded_tools":' in data::text) > 0)`;

/**
 * The log without the messages that the summary replaces; of calls of completed iterations, only starts of processes and what loaded
 * tools.
 */
const logOfRun = (run: string) => `
select case when octet_length(facts::text) <= ${maxLogBytes} then facts end as facts
from (
  select coalesce(json_agg(fact order by seq), '[]') as facts
  from (
    select id, seq, type, run_id, ${run}.thread_id, iteration, epoch, at, data from run_events
    where run_id = ${run}.id and (seq = ${run}.last_seq or not (
      type like 'tool.%' and iteration < ${run}.iteration and not ${isStartOfProcesses} and not ${loadsTools}
      or type = 'message.created' and coalesce(
        iteration > summary.head_iteration and iteration < summary.tail_iteration
          and iteration is distinct from summary.kept_iteration, false)
    ))
  ) as fact
) as log`;

/** Messages from before the run, cut alike. Those that the summary refers to are read regardless of the size limit. */
const earlierMessages = (run: string) => `
select coalesce(json_agg(message order by seq), '[]') as earlier
from (
  select id, thread_id, run_id, iteration, seq, type, is_llm_message, content, metadata, created_at
  from (
    select *, seq in (summary.head, summary.tail, summary.kept, summary.summary_seq) as is_needed,
      sum(octet_length(content::text)) over (order by seq desc) as bytes
    from messages
    where thread_id = ${run}.thread_id and seq <= ${run}.past_through and is_llm_message and run_id is distinct from ${run}.id
      and not coalesce(seq > summary.head and seq < summary.tail and seq is distinct from summary.kept, false)
  ) as measured
  where bytes <= ${maxEarlierBytes} or is_needed
) as message`;

/** The history that a run resumes from; joined to a table or CTE of runs. */
export const toHistory = (run: string): string => `
left join lateral (${latestSummary(run)}) as summary on true
cross join lateral (${logOfRun(run)}) as log
cross join lateral (${earlierMessages(run)}) as thread`;

/** The same of a run that has no facts yet; `run` needs only `thread_id`, `past_through`, and an `id` that no run has. */
const toEarlierHistory = (run: string): string => `
left join lateral (${latestSummary(run)}) as summary on true
cross join lateral (${earlierMessages(run)}) as thread`;

const historyRow = z.object({ earlier: jsonDocument<readonly JsonRow<MessageRow, 'created_at'>[]>() });

/**
 * Reads what a run that begins now would read of its thread: the messages for the model, without those that a summary replaces.
 * `threads` is SQL from `from` on that has at most one row of `threads`; without one, the result is undefined.
 */
export async function readThreadHistory(
  sql: Sql,
  threads: string,
  values: readonly unknown[],
): Promise<readonly Message[] | undefined> {
  const statement = `
with next_run as (select '' as id, threads.id as thread_id, last_message_seq as past_through ${threads})
select earlier from next_run ${toEarlierHistory('next_run')}`;
  const row = await createQuery(historyRow, statement).first(sql, values);
  return row?.earlier.map((message) => readShownMessage({ ...message, created_at: new Date(message.created_at) }));
}
