import { activated, outboxOf } from './activation';
import { batches, events, iterations, messages, modelCalls, toolCalls } from './append-rows';

const [batch, event, message, iteration, modelCall, toolCall] = [
  batches,
  events,
  messages,
  iterations,
  modelCalls,
  toolCalls,
].map((set, index) => set.table(index + 1));

/**
 * One statement writes the facts of many runs, with everything that follows from them. It locks runs, then threads,
 * each in the order of their ids, so that no two writers wait for each other; it judges each batch under that lock; and
 * a batch that is refused leaves the others alone.
 *
 * Its plan is made once, while the tables may be empty, so it is written to find rows by primary key whatever they hold:
 * runs one by one, and calls without a condition on `run_id` that another index could serve.
 */
export const appendStatement = `
with batch as materialized (select * from ${batch}),
run as materialized (
  select found.* from (select run_id from batch order by run_id) as wanted cross join lateral (
    select id, account_id, thread_id, status, queue, epoch, last_seq, stop_requested_at, stop_reason
    from runs where id = wanted.run_id for no key update
  ) as found
),
judged as materialized (
  select batch.*, not terminal and coalesce(batch.moves_to <> run.queue, false) as moves, run.account_id, run.thread_id, run.last_seq,
    run.stop_requested_at as told_to_stop_at, run.stop_reason as told_why,
    case
      when run.id is null or run.epoch <> batch.epoch or run.status in ('completed', 'failed', 'stopped') then 'lost'
      when run.stop_requested_at is not null and batch.yields_to_stop then 'stop_pending'
      else 'written'
    end as verdict
  from batch left join run on run.id = batch.run_id
),
thread as materialized (
  select id, last_message_seq from threads
  where id in (select thread_id from judged where verdict = 'written' and messages > 0)
  order by id for no key update
),
accepted as materialized (
  select judged.*, coalesce(thread.last_message_seq, 0) as last_message_seq,
    terminal or waiting is not null or moves as ends_claim
  from judged left join thread on thread.id = judged.thread_id
  where verdict = 'written'
),
next_message as (
  update threads set last_message_seq = accepted.last_message_seq + accepted.messages
  from accepted where threads.id = accepted.thread_id and accepted.messages > 0
),
next_fact as (
  update runs set
    last_seq = accepted.last_seq + accepted.facts,
    iteration = accepted.iteration,
    status = case
      when accepted.terminal or coalesce(accepted.stop_requested_at, accepted.told_to_stop_at) is null
        then coalesce(accepted.status, runs.status)
      else 'stopping'
    end,
    finish_reason = coalesce(accepted.finish_reason, runs.finish_reason),
    error = coalesce(accepted.error, runs.error),
    waiting = case when accepted.status is null then runs.waiting else accepted.waiting end,
    started_at = coalesce(runs.started_at, accepted.started_at),
    finished_at = accepted.finished_at,
    stop_requested_at = coalesce(runs.stop_requested_at, accepted.stop_requested_at),
    stop_reason = coalesce(runs.stop_reason, accepted.stop_reason),
    input_tokens = runs.input_tokens + accepted.input_tokens,
    cached_tokens = runs.cached_tokens + accepted.cached_tokens,
    output_tokens = runs.output_tokens + accepted.output_tokens,
    cost_usd = runs.cost_usd + accepted.cost_usd,
    holds_thread = runs.holds_thread and not accepted.terminal,
    fruitless_claims = case when accepted.progress then 0 else runs.fruitless_claims end,
    queue = case when accepted.moves then accepted.moves_to else runs.queue end,
    queue_since = case when accepted.moves then clock_timestamp() else runs.queue_since end,
    activation = case when accepted.moves then runs.activation + 1 else runs.activation end,
    activated_at = case when accepted.moves then clock_timestamp() else runs.activated_at end,
    lease_owner = case when accepted.ends_claim then null else runs.lease_owner end,
    lease_expires_at = case when accepted.ends_claim then null else runs.lease_expires_at end
  from accepted where runs.id = accepted.run_id
  returning ${activated}, accepted.moves
),
woken as (${outboxOf('next_fact where moves')}),
new_event as (
  insert into run_events (run_id, seq, id, type, iteration, epoch, at, data)
  select event.run_id, accepted.last_seq + event.number, event.id, event.type, event.iteration, accepted.epoch, event.at,
    (case when event.message_number is null then event.before
      else event.before || (accepted.last_message_seq + event.message_number) || event.after end)::json
  from accepted join ${event} using (run_id)
),
new_message as (
  insert into messages (id, thread_id, run_id, iteration, seq, type, is_llm_message, content, metadata, created_at)
  select message.id, accepted.thread_id, message.owner_id, message.iteration, accepted.last_message_seq + message.number,
    message.type, message.is_llm_message, message.content, message.metadata, message.at
  from accepted join ${message} using (run_id)
),
iteration as materialized (select iteration.* from ${iteration} join accepted using (run_id)),
new_iteration as (
  insert into iterations (run_id, number, message_id, finish_reason, restarts, started_at, completed_at)
  select run_id, number, message_id, finish_reason, restarts, started_at, completed_at
  from iteration where started_at is not null
),
known_iteration as (
  update iterations set
    message_id = coalesce(iteration.message_id, iterations.message_id),
    finish_reason = coalesce(iteration.finish_reason, iterations.finish_reason),
    restarts = iterations.restarts + iteration.restarts,
    completed_at = coalesce(iteration.completed_at, iterations.completed_at)
  from iteration
  where iterations.run_id = iteration.run_id and iterations.number = iteration.number and iteration.started_at is null
),
model_call as materialized (select call.*, accepted.account_id from ${modelCall} join accepted using (run_id)),
new_model_call as (
  insert into model_calls (id, run_id, iteration, model, finish_reason, duration_ms, first_token_ms, completed_at)
  select id, run_id, iteration, model, finish_reason, duration_ms, first_token_ms, at from model_call
),
new_usage as (
  insert into usage_entries
    (model_call_id, account_id, run_id, model, input_tokens, cached_tokens, output_tokens, cost_usd, estimated, created_at)
  select id, account_id, run_id, model, input_tokens, cached_tokens, output_tokens, cost_usd, estimated, at from model_call
),
tool_call as materialized (select call.* from ${toolCall} join accepted using (run_id)),
new_tool_call as (
  insert into tool_calls
    (id, run_id, iteration, index, name, arguments, dialect, effect_class, status, result, attempt, message_id, started_at, finished_at)
  select id, run_id, iteration, index, name, arguments, dialect, effect_class, status, result, attempt, message_id, started_at, finished_at
  from tool_call where planned
),
known_tool_call as (
  update tool_calls set
    status = tool_call.status,
    result = coalesce(tool_call.result, tool_calls.result),
    attempt = coalesce(tool_call.attempt, tool_calls.attempt),
    started_at = coalesce(tool_call.started_at, tool_calls.started_at),
    finished_at = coalesce(tool_call.finished_at, tool_calls.finished_at)
  from tool_call
  where tool_calls.id = tool_call.id and tool_calls.run_id is not distinct from tool_call.run_id and not tool_call.planned
)
select judged.run_id, judged.verdict, judged.last_seq, accepted.last_message_seq, judged.told_to_stop_at, judged.told_why
from judged left join accepted using (run_id)`;

/** The statement's answer for one batch. */
export type Judgement = { readonly run_id: string } & (
  | { readonly verdict: 'written'; readonly last_seq: number; readonly last_message_seq: number }
  | { readonly verdict: 'stop_pending'; readonly told_to_stop_at: Date; readonly told_why: string | null }
  | { readonly verdict: 'lost' }
);
