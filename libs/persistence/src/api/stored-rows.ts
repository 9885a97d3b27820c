import { accountId, runId, toolCall } from '@rondo/contract';
import { z } from 'zod';
import { anyJson } from '../database/checked-query';
import type { MessageRow } from '../run-log/message-row';
import type { FactRow, RunRow } from '../run-log/run-row';

const text = z.string();
const time = z.date();

/** Rows that many statements select whole. Their documents are those of typed runs, facts and messages, and are not parsed. */
export const runRow: z.ZodType<RunRow> = z.object({
  id: runId,
  account_id: accountId,
  thread_id: text,
  status: text,
  iteration: z.number(),
  last_seq: z.number(),
  epoch: z.number(),
  finish_reason: text.nullable(),
  error: anyJson,
  waiting: anyJson,
  input_tokens: z.number(),
  cached_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number().nullable(),
  profile: text,
  model: text,
  settings: anyJson,
  metadata: anyJson,
  queued_input: anyJson,
  holds_thread: z.boolean(),
  activation: z.number(),
  activated_at: time.nullable(),
  lease_owner: text.nullable(),
  fruitless_claims: z.number(),
  tool_set: text.nullable(),
  project_id: text.nullable(),
  agent_id: text.nullable(),
  agent_version: z.number().nullable(),
  preview: text.nullable(),
  parent_run_id: text.nullable(),
  parent_call_id: text.nullable(),
  root_run_id: text.nullable(),
  tree_depth: z.number().nullable(),
  forked_from: anyJson,
  trace_id: text.nullable(),
  stop_requested_at: time.nullable(),
  stop_reason: text.nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
});

export const factRow: z.ZodType<FactRow> = z.object({
  id: text,
  seq: z.number(),
  type: text,
  run_id: text,
  thread_id: text,
  iteration: z.number(),
  epoch: z.number(),
  at: time,
  data: anyJson,
});

export const messageRow: z.ZodType<MessageRow> = z.object({
  id: text,
  thread_id: text,
  run_id: text.nullable(),
  iteration: z.number().nullable(),
  seq: z.number(),
  type: text,
  is_llm_message: z.boolean(),
  content: anyJson,
  metadata: anyJson,
  created_at: time,
});

/** Its documents are parsed too, since executors write them. */
export const toolCallRow = z.object({
  ...toolCall.omit({ adjusted: true }).shape,
  adjusted: toolCall.shape.adjusted.nullable(),
  started_at: time.nullable(),
  finished_at: time.nullable(),
});
