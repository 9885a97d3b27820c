import { type RecordedFact, type Run, accountId, roundUsd, runId } from '@rondo/contract';
import type { StopRequest } from '@rondo/domain';
import { z } from 'zod';
import { anyJson } from '../database/checked-query';

const text = z.string();
const time = z.date();

/** A row of `runs` as SQL and Prisma's raw rows give it. Its documents are those of typed runs, and are not parsed. */
export const runRow = z.object({
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
  raised_in_epoch: z.number().nullable(),
  fruitless_claims: z.number(),
  tool_set: text.nullable(),
  project_id: text.nullable(),
  end_user: text.nullable(),
  agent_id: text.nullable(),
  agent_version: z.number().nullable(),
  preview: text.nullable(),
  parent_run_id: text.nullable(),
  parent_call_id: text.nullable(),
  root_run_id: text.nullable(),
  tree_depth: z.number().nullable(),
  forked_from: anyJson,
  steers: runId.nullable(),
  message_read: z.boolean(),
  trace_id: text.nullable(),
  stop_requested_at: time.nullable(),
  stop_reason: text.nullable(),
  stop_error: text.nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
});
export type RunRow = z.infer<typeof runRow>;

/** A row read by `row_to_json`, where times are strings: decoding one column is cheaper than forty. */
export type JsonRow<Row, Time extends keyof Row> = Omit<Row, Time> & {
  readonly [Key in Time]: string | Exclude<Row[Key], Date>;
};
export type RunJson = JsonRow<
  RunRow,
  'created_at' | 'activated_at' | 'started_at' | 'finished_at' | 'stop_requested_at'
>;

const iso = (time: Date | string | null): string | null => time && new Date(time).toISOString();

/** Not parsed: only this library writes these rows, from typed runs. */
export const toRun = (row: RunRow | RunJson): Run =>
  ({
    id: row.id,
    thread_id: row.thread_id,
    project_id: row.project_id,
    user: row.end_user,
    status: row.status,
    iteration: row.iteration,
    last_seq: row.last_seq,
    epoch: row.epoch,
    finish_reason: row.finish_reason,
    error: row.error,
    waiting: row.waiting,
    usage: {
      input_tokens: row.input_tokens,
      cached_tokens: row.cached_tokens,
      output_tokens: row.output_tokens,
      cost_usd: row.cost_usd && roundUsd(row.cost_usd),
    },
    profile: row.profile,
    model: row.model,
    settings: row.settings,
    agent_id: row.agent_id,
    agent_version: row.agent_version,
    preview: row.preview,
    parent_run_id: row.parent_run_id,
    parent_call_id: row.parent_call_id,
    root_run_id: row.root_run_id,
    forked_from: row.forked_from,
    steers: row.steers && { run_id: row.steers, is_read: row.message_read },
    trace_id: row.trace_id,
    metadata: row.metadata,
    stop_requested_at: iso(row.stop_requested_at),
    created_at: iso(row.created_at),
    started_at: iso(row.started_at),
    finished_at: iso(row.finished_at),
  }) as Run; // see above

export type StopColumns = Pick<RunRow | RunJson, 'stop_requested_at' | 'stop_reason' | 'stop_error'>;

/** The stop that was requested of a run; undefined if none was. */
export function readStop({ stop_requested_at, stop_reason: reason, stop_error }: StopColumns): StopRequest | undefined {
  const requestedAt = iso(stop_requested_at);
  return requestedAt === null ? undefined : { requestedAt, reason, error: stop_error ?? undefined };
}

export const factRow = z.object({
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
export type FactRow = z.infer<typeof factRow>;

/**
 * The fact with its keys in the published order. It is not parsed: only `append` writes these rows, from typed facts, and
 * a schema would reorder the keys of `data`.
 */
export const toFact = (row: FactRow): RecordedFact =>
  ({
    id: row.id,
    v: 1,
    seq: row.seq,
    type: row.type,
    run_id: row.run_id,
    thread_id: row.thread_id,
    iteration: row.iteration,
    epoch: row.epoch,
    at: row.at.toISOString(),
    data: row.data,
  }) as RecordedFact; // see above

export const factOfJson = (row: JsonRow<FactRow, 'at'>): RecordedFact => toFact({ ...row, at: new Date(row.at) });

/**
 * The thread whose workspace a row of `runs` or `threads` uses: that of its project where the threads of the project share
 * one, else its own. The project alone says so; a version that does not know of shared workspaces cannot write it wrong.
 */
export const toWorkspace = (projectId: string, ownThread: string): string =>
  `coalesce((select projects.workspace_id from projects where projects.id = ${projectId}), ${ownThread})`;
