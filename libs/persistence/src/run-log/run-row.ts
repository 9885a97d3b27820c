import type { AccountId, RecordedFact, Run, RunId } from '@rondo/contract';

/** A row of `runs` as SQL and Prisma's raw rows give it. */
export interface RunRow {
  readonly id: RunId;
  readonly account_id: AccountId;
  readonly thread_id: string;
  readonly status: string;
  readonly iteration: number;
  readonly last_seq: number;
  readonly epoch: number;
  readonly finish_reason: string | null;
  readonly error: unknown;
  readonly waiting: unknown;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
  readonly profile: string;
  readonly model: string;
  readonly settings: unknown;
  readonly metadata: unknown;
  readonly queued_input: unknown;
  readonly holds_thread: boolean;
  readonly activation: number;
  readonly activated_at: Date | null;
  readonly lease_owner: string | null;
  readonly fruitless_claims: number;
  readonly tool_set: string | null;
  readonly project_id: string | null;
  readonly agent_id: string | null;
  readonly agent_version: number | null;
  readonly preview: string | null;
  readonly parent_run_id: string | null;
  readonly parent_call_id: string | null;
  readonly root_run_id: string | null;
  readonly tree_depth: number | null;
  readonly forked_from: unknown;
  readonly trace_id: string | null;
  readonly stop_requested_at: Date | null;
  readonly stop_reason: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

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
export const runOf = (row: RunRow | RunJson): Run =>
  ({
    id: row.id,
    thread_id: row.thread_id,
    project_id: row.project_id,
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
      cost_usd: row.cost_usd,
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
    trace_id: row.trace_id,
    metadata: row.metadata,
    stop_requested_at: iso(row.stop_requested_at),
    created_at: iso(row.created_at),
    started_at: iso(row.started_at),
    finished_at: iso(row.finished_at),
  }) as Run; // see above

export interface FactRow {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly at: Date;
  readonly data: unknown;
}

/**
 * The fact with its keys in the published order. It is not parsed: only `append` writes these rows, from typed facts, and
 * a schema would reorder the keys of `data`.
 */
export const factOf = (row: FactRow): RecordedFact =>
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

export const factOfJson = (row: JsonRow<FactRow, 'at'>): RecordedFact => factOf({ ...row, at: new Date(row.at) });
