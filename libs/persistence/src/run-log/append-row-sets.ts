import { RowSet } from '../database/row-set';

/** `number` is the position of the batch in its group; the column `batch` of the other sets refers to it. */
export const batches = new RowSet('batch', {
  number: 'int',
  run_id: 'text',
  epoch: 'int',
  after: 'int',
  at: 'timestamptz',
  facts: 'int',
  messages: 'int',
  message_bytes: 'int',
  yields_to_stop: 'boolean',
  yields_to_raise: 'boolean',
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
  tool_set: 'text',
  stop_requested_at: 'timestamptz',
  stop_reason: 'json',
  input_tokens: 'float',
  cached_tokens: 'float',
  output_tokens: 'float',
  cost_usd: 'float',
});

/** `before` and `after` enclose the `seq` of a message, which is known only once its thread is locked. */
export const events = new RowSet('event', {
  batch: 'int',
  number: 'int',
  id: 'text',
  type: 'text',
  iteration: 'int',
  message_number: 'int',
  before: 'text',
  after: 'text',
});

export const messages = new RowSet('message', {
  batch: 'int',
  number: 'int',
  id: 'text',
  owner_id: 'text',
  iteration: 'int',
  type: 'text',
  is_llm_message: 'boolean',
  content: 'json',
  metadata: 'json',
});

/** The usage of model calls. */
export const usageEntries = new RowSet('usage', {
  batch: 'int',
  id: 'text',
  iteration: 'int',
  model: 'json',
  finish_reason: 'json',
  duration_ms: 'float',
  first_token_ms: 'float',
  input_tokens: 'int',
  cached_tokens: 'int',
  output_tokens: 'int',
  cost_usd: 'float',
  estimated: 'boolean',
});

export const plannedCalls = new RowSet('call', {
  batch: 'int',
  id: 'text',
  iteration: 'int',
  index: 'int',
  name: 'json',
  arguments: 'json',
  adjusted: 'json',
  program: 'json',
  dialect: 'text',
  effect_class: 'text',
  message_id: 'text',
  status: 'text',
  result: 'json',
  attempt: 'int',
  started: 'boolean',
  finished: 'boolean',
});

export const knownCalls = new RowSet('call', {
  batch: 'int',
  id: 'text',
  status: 'text',
  result: 'json',
  attempt: 'int',
  started: 'boolean',
  finished: 'boolean',
});
