import { maxTokenSum } from '@rondo/contract';
import { tables } from '../database/row-set';
import { activated, toOutbox } from '../database/run-activation';
import { settleCalls } from './settle-calls';
import { batches, events, knownCalls, messages, plannedCalls, usageEntries } from './append-row-sets';

/** What only the settling append has, after the rows. */
const priceFactors = { width: 1, table: (first: number) => `$${first}::json` };

const [batch, event, message, usage, planned, known, factors] = tables(
  batches,
  events,
  messages,
  usageEntries,
  plannedCalls,
  knownCalls,
  priceFactors,
);

const endsClaim = '(batch.terminal or batch.waiting is not null or batch.moves)';

/** The runs and threads, whose rows it locks. */
const lockRows = (alsoReturned: string): string => `
with written as (
  update runs set
    last_seq = runs.last_seq + batch.facts,
    iteration = batch.iteration,
    status = case
      when batch.terminal or coalesce(batch.stop_requested_at, runs.stop_requested_at) is null
        then coalesce(batch.status, runs.status)
      else 'stopping'
    end,
    finish_reason = coalesce(batch.finish_reason, runs.finish_reason),
    error = coalesce(batch.error, runs.error),
    waiting = case when batch.status is null then runs.waiting else batch.waiting end,
    started_at = coalesce(runs.started_at, batch.started_at),
    finished_at = batch.finished_at,
    tool_set = coalesce(runs.tool_set, batch.tool_set),
    stop_requested_at = coalesce(runs.stop_requested_at, batch.stop_requested_at),
    stop_reason = coalesce(runs.stop_reason, batch.stop_reason #>> '{}'),
    input_tokens = least(runs.input_tokens + batch.input_tokens, ${maxTokenSum}),
    cached_tokens = least(runs.cached_tokens + batch.cached_tokens, ${maxTokenSum}),
    output_tokens = least(runs.output_tokens + batch.output_tokens, ${maxTokenSum}),
    cost_usd = runs.cost_usd + batch.cost_usd,
    holds_thread = runs.holds_thread and not batch.terminal,
    fruitless_claims = case when batch.progress then 0 else runs.fruitless_claims end,
    queue = case when batch.moves then batch.moves_to else runs.queue end,
    queue_since = case when batch.moves then clock_timestamp() else runs.queue_since end,
    activation = case when batch.moves then runs.activation + 1 else runs.activation end,
    activated_at = case when batch.moves then clock_timestamp() else runs.activated_at end,
    lease_owner = case when ${endsClaim} then null else runs.lease_owner end,
    lease_expires_at = case when ${endsClaim} then null else runs.lease_expires_at end
  from (
    select *, not terminal and moves_to is not null and moves_to <> (select queue from runs where id = run_id) as moves
    from ${batch} order by run_id limit cardinality($1)
  ) as batch
  where runs.id = batch.run_id and runs.epoch = batch.epoch and runs.status not in ('completed', 'failed', 'stopped')
    and (runs.stop_requested_at is null or not batch.yields_to_stop)
    and (runs.raised_in_epoch is distinct from runs.epoch or not batch.yields_to_raise)
    and (runs.last_seq = batch.after or batch.after is null)
  returning ${activated}, batch.moves, batch.terminal, runs.account_id, runs.agent_id, runs.epoch, batch.number, batch.at, batch.messages, batch.message_bytes,
    runs.last_seq - batch.facts as last_seq${alsoReturned}
),
next_message as (
  update threads set
    last_message_seq = threads.last_message_seq + adding.messages,
    message_bytes = threads.message_bytes + adding.message_bytes
  from (select thread_id, messages, message_bytes from written where messages > 0 order by thread_id) as adding
  where threads.id = adding.thread_id
  returning threads.id, threads.last_message_seq - adding.messages as last_message_seq
),
accepted as materialized (
  select written.*, coalesce(next_message.last_message_seq, 0) as last_message_seq
  from written left join next_message on next_message.id = written.thread_id
),`;

/** What belongs to them. */
const rows = (priceFactor: string): string => `
queued_jobs as (${toOutbox('accepted where moves')}),
new_event as (
  insert into run_events (run_id, seq, id, type, iteration, epoch, at, data)
  select accepted.id, accepted.last_seq + event.number, event.id, event.type, event.iteration, accepted.epoch, accepted.at,
    (case when event.message_number is null then event.before
      else event.before || (accepted.last_message_seq + event.message_number) || event.after end)::json
  from ${event} join accepted on accepted.number = event.batch
),
new_message as (
  insert into messages (id, thread_id, run_id, iteration, seq, type, is_llm_message, content, metadata, created_at)
  select message.id, accepted.thread_id, message.owner_id, message.iteration, accepted.last_message_seq + message.number,
    message.type, message.is_llm_message, message.content, message.metadata, accepted.at
  from ${message} join accepted on accepted.number = message.batch
),
new_usage as (
  insert into usage_entries
    (model_call_id, account_id, run_id, thread_id, agent_id, iteration, model, finish_reason, duration_ms, first_token_ms,
      input_tokens, cached_tokens, output_tokens, cost_usd, estimated, created_at, price_factor)
  select usage.id, accepted.account_id, accepted.id, accepted.thread_id, accepted.agent_id, usage.iteration, usage.model #>> '{}', usage.finish_reason #>> '{}',
    usage.duration_ms, usage.first_token_ms, usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.cost_usd,
    usage.estimated, accepted.at, ${priceFactor}
  from ${usage} join accepted on accepted.number = usage.batch
),
new_call as (
  insert into tool_calls
    (id, run_id, iteration, index, name, arguments, adjusted, program, dialect, effect_class, status, result, attempt, message_id, started_at, finished_at)
  select call.id, accepted.id, call.iteration, call.index, call.name #>> '{}', call.arguments, call.adjusted, call.program, call.dialect, call.effect_class,
    call.status, call.result, call.attempt, call.message_id,
    case when call.started then accepted.at end, case when call.finished then accepted.at end
  from ${planned} join accepted on accepted.number = call.batch
),
known_call as (
  update tool_calls set
    status = call.status,
    result = coalesce(call.result, tool_calls.result),
    attempt = coalesce(call.attempt, tool_calls.attempt),
    started_at = case when call.started then accepted.at else tool_calls.started_at end,
    finished_at = case when call.finished then accepted.at else tool_calls.finished_at end
  from ${known} join accepted on accepted.number = call.batch
  where tool_calls.id = call.id and tool_calls.run_id is not distinct from accepted.id
)
select number, last_seq, last_message_seq, terminal and has_queued_run(thread_id) as is_awaited from accepted`;

/**
 * Writes the facts of many runs, with every row that follows from them, in one statement. It writes and returns the
 * batches that are accepted, which have their run's current epoch, follow its last fact and need not yield to a stop request or a raised
 * budget; a refused batch does not affect the others. It locks runs, then threads, each in the order of their ids, so that two writers cannot
 * deadlock; all other rows belong to a run and a thread that it has locked by then. Whether a run waits for one that ends is read by a
 * function, which sees what was committed while the statement waited for the lock.
 *
 * The plan is made once per connection, when the tables may be empty. `enable_seqscan=off`, and a limit that makes the
 * planner expect one batch, have it find rows by primary key at any size of the tables.
 */
export const appendStatement = `${lockRows('')}${rows('null::numeric')}`;

const settled = settleCalls({ usage: `${usage}`, factors: `${factors}` });

/** Also settles the model calls of the batches with the balances of their accounts. */
export const settlingAppendStatement = `${lockRows(`, ${endsClaim} as ends_claim`)}${settled}${rows(
  '(select price_factor from model_call where model_call.id = usage.id)',
)}`;

/** A batch that was written, with the position of its run and thread before it. */
export interface AppendOutcome {
  readonly number: number;
  readonly last_seq: number;
  readonly last_message_seq: number;
  /** The run has ended, and another one is queued on its thread. */
  readonly is_awaited: boolean;
}
