import { z } from 'zod';
import { awaitedApproval } from './approval';
import { awaitedCall } from './caller-tool';
import { elicitation } from './elicitation';
import { endUser } from './end-user';
import { forkOrigin } from './fork';
import { agentId, callId, projectId, runId, threadId } from './ids';
import { runFailure } from './problem';
import { runSettings } from './run-settings';

export const runStatus = z.enum([
  'queued',
  'running',
  'stopping',
  'waiting_input',
  'waiting_budget',
  'waiting_child',
  'waiting_tool',
  'completed',
  'failed',
  'stopped',
]);
export type RunStatus = z.infer<typeof runStatus>;

const terminal = ['completed', 'failed', 'stopped'] as const satisfies readonly RunStatus[];
const terminalStatuses: readonly RunStatus[] = terminal;
export const isTerminal = (status: RunStatus): boolean => terminalStatuses.includes(status);
/** It waits for a person, or for its caller: nothing happens before one of them does something. */
export const isWaiting = (status: RunStatus): boolean =>
  status === 'waiting_input' || status === 'waiting_budget' || status === 'waiting_tool';
/** It waits for a person, its caller or child runs: no worker has it, and none is due. */
export const isParked = (status: RunStatus): boolean => isWaiting(status) || status === 'waiting_child';

export const finishReason = z.enum([
  'stop',
  'length',
  'tool_calls',
  'complete',
  'ask',
  'xml_tool_limit_reached',
  'max_iterations',
  'budget_exceeded',
  'loop_detected',
  'stopped',
  'error',
]);
export type FinishReason = z.infer<typeof finishReason>;

/** Tokens and money. `cost_usd` is null if the price of the model is unknown. */
export const usage = z.object({
  input_tokens: z.number().int().nonnegative(),
  cached_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  cost_usd: z.number().nonnegative().nullable(),
});
export type Usage = z.infer<typeof usage>;

export const noUsage: Usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 };

/** The largest integer that JSON represents exactly. Sums of tokens are capped here. */
export const maxTokenSum = Number.MAX_SAFE_INTEGER;

const addTokens = (a: number, b: number): number => Math.min(a + b, maxTokenSum);

/** To the twelve decimals that are stored of an amount in USD. Sums of binary fractions have more: 0.06269999999999999. */
export const roundUsd = (usd: number): number => Number(usd.toFixed(12));

/** An unknown cost makes the sum unknown, not lower. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: addTokens(a.input_tokens, b.input_tokens),
  cached_tokens: addTokens(a.cached_tokens, b.cached_tokens),
  output_tokens: addTokens(a.output_tokens, b.output_tokens),
  cost_usd: a.cost_usd === null || b.cost_usd === null ? null : roundUsd(a.cost_usd + b.cost_usd),
});

export const question = z.object({ text: z.string(), attachments: z.array(z.string()), tool_call_id: z.string() });

/** A budget that is used up, or does not cover the next request. */
export const awaitedBudget = z.object({
  usd: z.number().nullable(),
  tokens: z.number().nullable(),
  spent_usd: z.number().nullable(),
  spent_tokens: z.number(),
  /** The root of its tree, where the budget of the tree is used up, and not its own. */
  root_run_id: runId.exactOptional(),
});

/** A child run that its parent waits for. */
export const awaitedChild = z.object({
  run_id: runId,
  tool_call_id: callId,
  agent_id: agentId.nullable(),
  agent_name: z.string(),
});
export type AwaitedChild = z.infer<typeof awaitedChild>;

/** The whole budget from now on. `raised_by` is the id of an API key. */
export const raisedBudget = z.object({
  usd: z.number().positive().exactOptional(),
  tokens: z.number().int().positive().exactOptional(),
  raised_by: z.string(),
});

export const waiting = z.object({
  reason: z.enum(['ask', 'approval', 'budget', 'tool_unknown', 'child_runs', 'caller_tools', 'elicitation']),
  question: question.optional(),
  /** With the reason `approval`: the calls that await one. */
  approvals: z.array(awaitedApproval).optional(),
  /** With the reason `budget`. */
  budget: awaitedBudget.optional(),
  /** With the reason `child_runs`: those that are not over. */
  child_runs: z.array(awaitedChild).optional(),
  /** With the reason `caller_tools`: the calls that wait for a result of their caller. */
  tool_calls: z.array(awaitedCall).optional(),
  /** With the reason `elicitation`: the questions of MCP servers that are not answered. */
  elicitations: z.array(elicitation).optional(),
});
export type Waiting = z.infer<typeof waiting>;

/** A run that a call of `run_agent` started, in the list of its parent. */
export const childRun = z.object({
  id: runId,
  tool_call_id: callId,
  agent_id: agentId.nullable(),
  status: runStatus,
  /** Null while it is not over. A run out of budget is `completed` as well: only this tells them apart. */
  finish_reason: finishReason.nullable().optional(),
});
export type ChildRun = z.infer<typeof childRun>;

/** A child run that was told to stop. `ended_at` is null if its end was not seen in time. */
export const stoppedChildRun = z.object({ run_id: runId, ended_at: z.iso.datetime().nullable() });

/** A run as the API shows it. */
export const run = z.object({
  id: runId,
  thread_id: threadId,
  /** Only in the answer to a request with `on_active_run: "steer"`: the run that begins with its input if this one ends before it has read it. */
  steered: z.object({ queued_run_id: runId }).exactOptional(),
  /**
   * Of a queued run whose input was told to the run at work (`on_active_run: "steer"`): that run, and whether it has read it. Then
   * this run has ended as stopped without having begun. Null for every other run.
   */
  steers: z.object({ run_id: runId, is_read: z.boolean() }).nullable().optional(),
  /** The project of its thread. Null for a thread without one. */
  project_id: projectId.nullable(),
  /** The person for whom it runs: that of its thread. Null: none was named. */
  user: endUser.nullable().optional(),
  status: runStatus,
  iteration: z.number().int().nonnegative(),
  last_seq: z.number().int().nonnegative(),
  epoch: z.number().int().nonnegative(),
  finish_reason: finishReason.nullable(),
  error: runFailure.nullable(),
  waiting: waiting.nullable(),
  usage,
  profile: z.string(),
  model: z.string(),
  settings: runSettings,
  /** The stored agent that it began with, and its version. Null for a run without one. */
  agent_id: agentId.nullable(),
  agent_version: z.number().int().positive().nullable(),
  /** The first words of its input. Null without one. */
  preview: z.string().nullable(),
  /** The run whose call of `run_agent` started it, that call, and the first run of the tree. Null for a run of its own. */
  parent_run_id: runId.nullable(),
  parent_call_id: callId.nullable(),
  root_run_id: runId.nullable(),
  /** Null for a run that was not forked. */
  forked_from: forkOrigin.nullable(),
  /** Its child runs, the oldest first and at most 100. Only in `GET /v1/runs/{id}`, and only if it has some. */
  children: z.array(childRun).exactOptional(),
  /** The trace that its spans are in, 32 hexadecimal digits (docs/tracing.md). Null for a run that is not traced. */
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .nullable(),
  /** The page that shows its trace. Only in `GET /v1/runs/{id}`, and only where the deployment has one. */
  trace_url: z.string().exactOptional(),
  metadata: z.record(z.string(), z.string()),
  stop_requested_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
});
export type Run = z.infer<typeof run>;

type Beginning = Pick<Run, 'id' | 'thread_id' | 'last_seq' | 'settings' | 'metadata' | 'created_at'> &
  Partial<
    Pick<
      Run,
      | 'project_id'
      | 'user'
      | 'agent_id'
      | 'agent_version'
      | 'preview'
      | 'parent_run_id'
      | 'parent_call_id'
      | 'root_run_id'
      | 'trace_id'
    >
  >;

/** A new run. */
export const newRun = ({ id, thread_id, last_seq, settings, metadata, created_at, ...more }: Beginning): Run => ({
  id,
  thread_id,
  project_id: more.project_id ?? null,
  user: more.user ?? null,
  status: 'queued',
  iteration: 0,
  last_seq,
  epoch: 0,
  finish_reason: null,
  error: null,
  waiting: null,
  usage: noUsage,
  profile: settings.profile,
  model: settings.model,
  settings,
  agent_id: more.agent_id ?? null,
  agent_version: more.agent_version ?? null,
  preview: more.preview ?? null,
  parent_run_id: more.parent_run_id ?? null,
  parent_call_id: more.parent_call_id ?? null,
  root_run_id: more.root_run_id ?? null,
  forked_from: null,
  steers: null,
  trace_id: more.trace_id ?? null,
  metadata,
  stop_requested_at: null,
  created_at,
  started_at: null,
  finished_at: null,
});
