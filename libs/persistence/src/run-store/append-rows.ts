import { RowSet } from '../row-set';
import { storedText } from '../stored-text';
import type { Batch, StampedFact } from './batch';
import { iterationRows, modelCallRows, toolCallRows } from './ledger-rows';

export const batches = new RowSet('batch', {
  run_id: 'text',
  epoch: 'int',
  facts: 'int',
  messages: 'int',
  yields_to_stop: 'boolean',
  terminal: 'boolean',
  progress: 'boolean',
  moves_to: 'text',
  status: 'text',
  iteration: 'int',
  finish_reason: 'text',
  error: 'json',
  waiting: 'json',
  started_at: 'timestamptz',
  finished_at: 'timestamptz',
  stop_requested_at: 'timestamptz',
  stop_reason: 'text',
  input_tokens: 'int',
  cached_tokens: 'int',
  output_tokens: 'int',
  cost_usd: 'float',
});

/** `before` and `after` enclose a message's place in its thread, which is known only under the lock. */
export const events = new RowSet('event', {
  run_id: 'text',
  number: 'int',
  id: 'text',
  type: 'text',
  iteration: 'int',
  at: 'timestamptz',
  message_number: 'int',
  before: 'text',
  after: 'text',
});

export const messages = new RowSet('message', {
  run_id: 'text',
  number: 'int',
  id: 'text',
  owner_id: 'text',
  iteration: 'int',
  type: 'text',
  is_llm_message: 'boolean',
  content: 'json',
  metadata: 'json',
  at: 'timestamptz',
});

export const iterations = new RowSet('iteration', {
  run_id: 'text',
  number: 'int',
  message_id: 'text',
  finish_reason: 'text',
  restarts: 'int',
  started_at: 'timestamptz',
  completed_at: 'timestamptz',
});

export const modelCalls = new RowSet('call', {
  run_id: 'text',
  id: 'text',
  iteration: 'int',
  model: 'text',
  finish_reason: 'text',
  duration_ms: 'float',
  first_token_ms: 'float',
  input_tokens: 'int',
  cached_tokens: 'int',
  output_tokens: 'int',
  cost_usd: 'float',
  estimated: 'boolean',
  at: 'timestamptz',
});

export const toolCalls = new RowSet('call', {
  run_id: 'text',
  id: 'text',
  planned: 'boolean',
  iteration: 'int',
  index: 'int',
  name: 'text',
  arguments: 'json',
  dialect: 'text',
  effect_class: 'text',
  message_id: 'text',
  status: 'text',
  result: 'json',
  attempt: 'int',
  started_at: 'timestamptz',
  finished_at: 'timestamptz',
});

/** At most one batch per run. */
export const appendValues = (group: readonly Batch[]): unknown[] => [
  batches.value(group.map(batchRow)),
  events.value(group.flatMap(eventRows)),
  messages.value(group.flatMap(messageRows)),
  iterations.value(withRun(group, ({ facts }) => iterationRows(facts))),
  modelCalls.value(
    withRun(group, ({ facts }) => modelCallRows(facts).map((row) => ({ ...row, id: row.model_call_id }))),
  ),
  toolCalls.value(withRun(group, toolCallRowsOf)),
];

const withRun = <Row extends object>(group: readonly Batch[], rows: (batch: Batch) => readonly Row[]) =>
  group.flatMap((batch) => rows(batch).map((row) => ({ ...row, run_id: batch.claim.runId })));

const isMessage = ({ json }: StampedFact): boolean => typeof json !== 'string';

const batchRow = ({ claim, facts, changes }: Batch) => ({
  run_id: claim.runId,
  epoch: claim.epoch,
  facts: facts.length,
  messages: facts.filter(isMessage).length,
  yields_to_stop: changes.yieldsToStop,
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
  stop_requested_at: changes.stop?.requestedAt ?? null,
  stop_reason: changes.stop?.reason == null ? null : storedText(changes.stop.reason),
  ...changes.usage,
});

function eventRows({ claim, facts }: Batch) {
  let messageNumber = 0;
  return facts.map(({ fact, id, at, json }, index) => {
    const row = { run_id: claim.runId, number: index + 1, id, type: fact.type, iteration: fact.iteration, at };
    if (typeof json === 'string') return { ...row, message_number: null, before: json, after: null };
    messageNumber += 1;
    return { ...row, message_number: messageNumber, before: json.beforeSeq, after: json.afterSeq };
  });
}

const messageRows = ({ claim, facts }: Batch) =>
  facts
    .flatMap(({ json, at }) => (typeof json === 'string' ? [] : [{ json, at }]))
    .map(({ json: { message, content, metadata }, at }, index) => ({
      run_id: claim.runId,
      number: index + 1,
      id: message.id,
      owner_id: message.run_id,
      iteration: message.iteration,
      type: message.type,
      is_llm_message: message.is_llm_message,
      content,
      metadata,
      at,
    }));

const toolCallRowsOf = ({ facts }: Batch) =>
  toolCallRows(facts).map(({ plan, ...row }) => ({
    ...row,
    planned: plan !== null,
    iteration: plan?.iteration ?? null,
    index: plan?.index ?? null,
    name: plan && storedText(plan.name),
    arguments: plan && JSON.stringify(plan.arguments),
    dialect: plan?.dialect ?? null,
    effect_class: plan?.effect_class ?? null,
    message_id: plan?.message_id ?? null,
  }));
