import type { NewFact } from '@rondo/contract';
import type { RowSet } from '../database/row-set';
import { toStoredJson } from '../database/stored-text';
import { batches, events, knownCalls, messages, plannedCalls, usageEntries } from './append-row-sets';
import type { Batch, MessageJson } from './batch';
import { callChanges } from './ledger-rows';

type RowWithin<Set> = Set extends RowSet<infer Column> ? Parameters<RowSet<Column>['values']>[0][number] : never;

interface Rows {
  readonly batches: RowWithin<typeof batches>[];
  readonly events: RowWithin<typeof events>[];
  readonly messages: RowWithin<typeof messages>[];
  readonly usageEntries: RowWithin<typeof usageEntries>[];
  readonly plannedCalls: RowWithin<typeof plannedCalls>[];
  readonly knownCalls: RowWithin<typeof knownCalls>[];
}

/** The parameters of `appendStatement`. A group holds at most one batch per run. */
export function appendValues(group: readonly Batch[]): string[] {
  const rows: Rows = { batches: [], events: [], messages: [], usageEntries: [], plannedCalls: [], knownCalls: [] };
  group.forEach((batch, index) => {
    const number = index + 1;
    addFacts(rows, batch, number);
    addCalls(rows, batch, number);
  });
  return [
    ...batches.values(rows.batches),
    ...events.values(rows.events),
    ...messages.values(rows.messages),
    ...usageEntries.values(rows.usageEntries),
    ...plannedCalls.values(rows.plannedCalls),
    ...knownCalls.values(rows.knownCalls),
  ];
}

/** Adds the batch's own row last, because it holds the number of its messages. */
function addFacts(rows: Rows, { claim, after, at, facts, changes }: Batch, batch: number): void {
  let messageCount = 0;
  let messageBytes = 0;
  facts.forEach(({ fact, id, json }, index) => {
    const { type, iteration } = fact;
    const isMessage = typeof json !== 'string';
    if (isMessage) {
      messageCount += 1;
      messageBytes += Buffer.byteLength(json.content);
      rows.messages.push(messageRow(json, batch, messageCount));
    }
    if (fact.type === 'usage.recorded') rows.usageEntries.push(usageRow(fact, batch));
    rows.events.push({
      batch,
      number: index + 1,
      id,
      type,
      iteration,
      message_number: isMessage ? messageCount : null,
      before: isMessage ? json.beforeSeq : json,
      after: isMessage ? json.afterSeq : null,
    });
  });
  rows.batches.push({
    number: batch,
    run_id: claim.runId,
    epoch: claim.epoch,
    after: after ?? null,
    at,
    facts: facts.length,
    messages: messageCount,
    message_bytes: messageBytes,
    yields_to_stop: changes.yieldsToStop,
    yields_to_raise: changes.yieldsToChange,
    terminal: changes.terminal,
    progress: changes.progress,
    moves_to: changes.movesTo,
    status: changes.status,
    iteration: changes.iteration,
    finish_reason: changes.finishReason,
    error: changes.error && JSON.stringify(changes.error),
    waiting: changes.waiting && JSON.stringify(changes.waiting),
    started_at: changes.startedAt,
    finished_at: changes.finishedAt,
    tool_set: changes.toolSet,
    stop_requested_at: changes.stop && changes.stop.requestedAt,
    stop_reason: changes.stop?.reason == null ? null : toStoredJson(changes.stop.reason),
    input_tokens: changes.usage.input_tokens,
    cached_tokens: changes.usage.cached_tokens,
    output_tokens: changes.usage.output_tokens,
    cost_usd: changes.usage.cost_usd,
  });
}

const messageRow = ({ message, content, metadata }: MessageJson, batch: number, number: number) => ({
  batch,
  number,
  id: message.id,
  owner_id: message.run_id,
  iteration: message.iteration,
  type: message.type,
  is_llm_message: message.is_llm_message,
  content,
  metadata,
});

type UsageFact = Extract<NewFact, { type: 'usage.recorded' }>;

const usageRow = ({ iteration, data }: UsageFact, batch: number) => ({
  batch,
  id: data.model_call_id,
  iteration,
  model: toStoredJson(data.model),
  finish_reason: toStoredJson(data.finish_reason),
  duration_ms: data.duration_ms,
  first_token_ms: data.first_token_ms,
  input_tokens: data.input_tokens,
  cached_tokens: data.cached_tokens,
  output_tokens: data.output_tokens,
  cost_usd: data.cost_usd,
  estimated: data.estimated,
});

function addCalls(rows: Rows, { facts }: Batch, batch: number): void {
  for (const { id, plan, status, result, attempt, started, finished } of callChanges(facts)) {
    if (plan === null) rows.knownCalls.push({ batch, id, status, result, attempt, started, finished });
    else
      rows.plannedCalls.push({
        batch,
        id,
        iteration: plan.iteration,
        index: plan.index,
        name: toStoredJson(plan.name),
        arguments: JSON.stringify(plan.arguments),
        adjusted: plan.adjusted ? JSON.stringify(plan.adjusted) : null,
        program: plan.program ? JSON.stringify(plan.program) : null,
        dialect: plan.dialect,
        effect_class: plan.effect_class,
        message_id: plan.message_id,
        status,
        result,
        attempt,
        started,
        finished,
      });
  }
}
