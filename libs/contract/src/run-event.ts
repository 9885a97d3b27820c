import { z } from 'zod';
import { awaitedApproval, decidedApproval } from './approval';
import { workspacePrepared, workspacePreparing } from './environment';
import { workspaceRewinding, workspaceRewound, runForked } from './fork';
import { inputGiven, inputRequested } from './elicitation';
import { agentId, callId, compactionId, eventId, messageId, modelCallId, runId, threadId } from './ids';
import { refusedMcpTool } from './mcp-server';
import { type NewMessage, coverage, message, toShownMessage } from './message';
import { runError, runFailure } from './problem';
import { finishReason, raisedBudget, usage, waiting, stoppedChildRun } from './run';
import { reasoningEffort } from './run-settings';
import { decidedSecret, requestedSecret } from './secret';
import { resolution, toolCall } from './tool-call';
import { keptImage } from './image';
import { loadedTools, toolAnswer } from './tool-result';

/** What the server of a call works on after its answer. With the id, any executor learns the result, after any restart. */
export const mcpTask = z.object({ id: z.string().min(1).max(1_000) });
export type McpTask = z.infer<typeof mcpTask>;

export const taskCreated = z.object({
  tool_call_id: callId,
  name: z.string(),
  task: mcpTask,
  /** Where the call had this task already: why it is asked for anew. */
  reason: z.string().exactOptional(),
});

/** What a stop has ended, and when that was seen (I7). */
const stopReceipt = z.object({
  requested_at: z.iso.datetime(),
  model_aborted_at: z.iso.datetime().nullable(),
  /** Calls that were running, and calls that had left a background job or a daemon. */
  tools_stopped: z.array(
    z.object({
      tool_call_id: callId,
      verified_dead_at: z.iso.datetime().nullable(),
      /** The names of the processes that it had left running; the processes choose them. */
      processes: z.array(z.string()).exactOptional(),
    }),
  ),
  /** Child runs that were told to stop; `ended_at` is null if their end was not seen in time. */
  child_runs_stopped: z.array(stoppedChildRun).exactOptional(),
  tokens_after_stop: z.number().int().nonnegative(),
  /** When the last stopped tool was seen dead. Null if one was not, if none ran, or if it was not confirmed that the
   * run left no process running. */
  sandbox_verified_at: z.iso.datetime().nullable(),
});

/**
 * Everything that can happen to a run. The log, the wire, the reducer and the tests share this union.
 *
 * A **fact** is in the past tense, is written to Postgres and gets a `seq`: 1, 2, 3 … without a gap (I2).
 * A **delta** is for subscribers only: it is not stored, a fact supersedes it, and nothing depends on it.
 */

/** Facts of the run as a whole. */
const runFacts = {
  /** The stored agent that it began with, the origin of a child run, and the message that its input replaces. */
  'run.created': z.object({
    profile: z.string(),
    model: z.string(),
    agent_id: agentId.exactOptional(),
    agent_version: z.number().int().positive().exactOptional(),
    parent_run_id: runId.exactOptional(),
    parent_call_id: callId.exactOptional(),
    root_run_id: runId.exactOptional(),
    edits_message_id: messageId.exactOptional(),
  }),
  /** Where the shared facts end. What follows is this run's own. */
  'run.forked': runForked,
  /** `tool_set` is the hash of the tools that the run uses from its first to its last activation (docs/decisions/0040). */
  'run.started': z.object({ tool_set: z.string().exactOptional() }),
  'run.waiting': waiting,
  'run.resumed': z.object({ reason: z.string() }),
  'budget.raised': raisedBudget,
  /** With `error`, the run is to end as failed. */
  'run.stop_requested': z.object({
    reason: z.string().nullable(),
    requested_at: z.iso.datetime(),
    error: z.string().exactOptional(),
  }),
  'run.stopped': z.object({
    reason: z.string().nullable(),
    receipt: stopReceipt,
    usage,
  }),
  'run.completed': z.object({ finish_reason: finishReason, usage }),
  /** `receipt` where a stop with an error ended it. */
  'run.failed': z.object({ error: runFailure, usage, receipt: stopReceipt.exactOptional() }),
};

/** Facts of the database that holds the log. */
const databaseFacts = {
  /**
   * Another server answers since then, or a restored copy, which may lack what was written last. These calls were found that
   * had been sent and are not in its log: their outcome is unknown, and they are not sent again.
   */
  'database.replaced': z.object({ unknown_calls: z.array(z.object({ tool_call_id: callId, name: z.string() })) }),
};

/** Facts of one iteration. `message_id` is the future id of the reply; its deltas have it as `stream_id`. */
const iterationFacts = {
  'iteration.started': z.object({ iteration: z.number().int().positive(), message_id: messageId }),
  'iteration.restarted': z.object({
    iteration: z.number().int().positive(),
    message_id: messageId,
    withdrawn_stream_ids: z.array(z.string()),
    /** The reply broke off at the model, which is asked again after this pause. */
    retry: z
      .object({ attempt: z.number().int().positive(), delay_ms: z.number().nonnegative(), error: runError })
      .exactOptional(),
  }),
  'iteration.completed': z.object({ iteration: z.number().int().positive(), finish_reason: finishReason }),
  'message.created': z.object({ message }),
  /** The browser of the thread shows this now; `message_id` has the elements too. */
  'browser.state': z.object({
    message_id: messageId,
    tool_call_id: callId,
    url: z.string(),
    title: z.string(),
    screenshot: keptImage.optional(),
  }),
  'model.retried': z.object({
    attempt: z.number().int().positive(),
    delay_ms: z.number().nonnegative(),
    error: runError,
    /** The provider whose pace the request waits for; nothing was refused. */
    paced_by: z.string().optional(),
  }),
  /** `to` is asked instead of `from`, until the run's own model is asked again, from `retry_at` on. */
  'model.fell_back': z.object({ from: z.string(), to: z.string(), error: runError, retry_at: z.iso.datetime() }),
  'usage.recorded': z.object({
    model_call_id: modelCallId,
    model: z.string(),
    input_tokens: z.number().int().nonnegative(),
    cached_tokens: z.number().int().nonnegative(),
    output_tokens: z.number().int().nonnegative(),
    cost_usd: z.number().nonnegative().nullable(),
    estimated: z.boolean(),
    finish_reason: z.string(),
    duration_ms: z.number().nonnegative(),
    first_token_ms: z.number().nonnegative().nullable(),
    /** Why the reply broke off, or failed. */
    error: runError.optional(),
    /** The provider's own word for the end of the reply. */
    provider_finish_reason: z.string().exactOptional(),
    /** How much the model was asked to reason. */
    reasoning_effort: reasoningEffort.exactOptional(),
    /** Tools that the model was not offered, because its provider takes no more. */
    omitted_tools: z.array(z.string()).exactOptional(),
    /** Parameters that were left out of the request, because the provider refuses them. */
    omitted_parameters: z.array(z.string()).exactOptional(),
    /** What the call costs at the price that is known here, where the provider named `cost_usd`. */
    list_cost_usd: z.number().nonnegative().exactOptional(),
    /** Of `input_tokens`, those that the provider put into its cache. Absent: it did not say. */
    cache_write_tokens: z.number().int().nonnegative().exactOptional(),
    /** Of `output_tokens`, those that the model reasoned with. Absent: its provider did not say. */
    reasoning_tokens: z.number().int().nonnegative().exactOptional(),
  }),
};

/** Facts of one tool call; the ledger's rows follow from them (I5). */
const toolFacts = {
  'tool.planned': z.object({ tool_call: toolCall, loaded_tools: loadedTools.exactOptional() }),
  /** `store` names the tool-call streams that it is sent into; see Tools.store. */
  'tool.started': z.object({
    tool_call_id: callId,
    name: z.string(),
    attempt: z.number().int().positive(),
    store: z.string().nullable(),
  }),
  'tool.completed': toolAnswer,
  'tool.failed': toolAnswer,
  /** Without `message_id` the model was not told yet: the call is sent again, or a person is asked. */
  'tool.unknown': z.object({
    tool_call_id: callId,
    name: z.string(),
    reason: z.string(),
    message_id: messageId.optional(),
  }),
  /** What a person decided about an unknown call. `retry` sends it again under the same key. */
  'tool.resolved': z.object({ tool_call_id: callId, name: z.string(), outcome: resolution }),
  /** The server of its tool did nothing yet: it asks people first. The call is sent again with their answers. */
  'tool.input_requested': inputRequested,
  'tool.input_given': inputGiven,
  /** The server of its tool goes on with it as a task. The call is sent again to ask for that task, which repeats nothing. */
  'tool.task_created': taskCreated,
};

/** Facts of calls that need a person's approval before they are sent. */
const approvalFacts = {
  'approval.requested': awaitedApproval,
  'approval.decided': decidedApproval,
};

/** Facts of secrets whose first use in a run needs a person's approval. */
const secretFacts = {
  'secret.requested': requestedSecret,
  'secret.decided': decidedSecret,
};

/** Why the context is compacted. */
export const compactionReason = z.enum(['threshold', 'overflow', 'requested']);

/** Facts of the context: how later requests reduce the conversation (I13). */
const contextFacts = {
  /** The run waits for the summarizer, which summarizes these messages. */
  'context.compaction_started': z.object({
    compaction_id: compactionId,
    reason: compactionReason,
    covers: coverage,
    /** The tokens of the next request without the compaction. */
    tokens_before: z.number().int().nonnegative(),
  }),
  'context.compacted': z.discriminatedUnion('method', [
    z.object({
      method: z.literal('summary'),
      compaction_id: compactionId,
      message_id: messageId,
      covers: coverage,
      tokens_before: z.number().int().nonnegative(),
      tokens_after: z.number().int().nonnegative(),
    }),
    /** Without a model: texts up to a message are shortened, and a range may be omitted. */
    z.object({
      method: z.literal('compression'),
      reason: compactionReason,
      through_message_id: messageId,
      keep_characters: z.number().int().nonnegative(),
      omitted: coverage.optional(),
      tokens_before: z.number().int().nonnegative(),
      tokens_after: z.number().int().nonnegative(),
    }),
  ]),
  'context.compaction_failed': z.object({ compaction_id: compactionId, error: runError }),
};

/** Facts of the MCP servers of a run, when it starts. */
const serverFacts = {
  /** The run offers these tools. `refused` are not offered, because of what the server says of them. */
  'mcp.connected': z.object({ server: z.string(), tools: z.array(z.string()), refused: z.array(refusedMcpTool) }),
  /** The run goes on without the tools of this server. */
  'mcp.skipped': z.object({ server: z.string(), reason: z.string() }),
};

/** Facts of what the settings of a run want its workspace to have. */
const workspaceFacts = {
  'workspace.preparing': workspacePreparing,
  'workspace.prepared': workspacePrepared,
  'workspace.rewinding': workspaceRewinding,
  'workspace.rewound': workspaceRewound,
};

const factData = {
  ...runFacts,
  ...databaseFacts,
  ...iterationFacts,
  ...toolFacts,
  ...approvalFacts,
  ...secretFacts,
  ...contextFacts,
  ...serverFacts,
  ...workspaceFacts,
};
type FactData = { [Type in keyof typeof factData]: z.infer<(typeof factData)[Type]> };
export type FactType = keyof FactData;
export const factTypes = Object.keys(factData) as FactType[]; // the keys of an object literal are exactly its type's keys

/** A fact before the store numbers it. Messages get their thread `seq` from the store, too. */
export type NewFact = {
  [Type in FactType]: {
    type: Type;
    iteration: number;
    data: Type extends 'message.created' ? { message: NewMessage } : FactData[Type];
  };
}[FactType];

const envelope = {
  id: eventId,
  v: z.literal(1),
  run_id: runId,
  thread_id: threadId,
  iteration: z.number().int().nonnegative(),
  epoch: z.number().int().nonnegative(),
  at: z.iso.datetime(),
};

type Envelope = z.infer<z.ZodObject<typeof envelope>>;

/** A fact with its number in the log of the run. `seq` starts at 1 and has no gaps. */
export type RecordedFact = {
  [Type in FactType]: Envelope & { seq: number; type: Type; data: FactData[Type] };
}[FactType];

export type FactWithType<Type extends FactType> = Extract<RecordedFact, { type: Type }>;

/** One schema for each fact, for the API documents. */
export const factSchemas = factTypes.map((type) =>
  z.object({ ...envelope, seq: z.number().int().positive(), type: z.literal(type), data: factData[type] }),
);

/** Parses a fact from the log or the wire. Key order and unknown keys of `data` do not matter. */
export const recordedFact = z.discriminatedUnion(
  'type',
  factSchemas as [(typeof factSchemas)[number], ...typeof factSchemas],
) as unknown as z.ZodType<RecordedFact>; // zod cannot infer the map above; the mapped type is equivalent

const terminalFactTypes = ['run.completed', 'run.failed', 'run.stopped'] as const satisfies readonly FactType[];

/** Whether the fact ends its run: no fact follows it in the log (I2). */
export const isTerminalFact = ({ type }: { readonly type: string }): boolean =>
  (terminalFactTypes as readonly string[]).includes(type);

export const deltaType = z.enum(['message.delta', 'reasoning.delta', 'tool.call_delta', 'tool.output']);
export type DeltaType = z.infer<typeof deltaType>;

/**
 * A piece of a stream from the loop or a tool. `tool.call_delta` carries argument text, `tool.output` what a
 * running command printed on `channel`.
 */
export interface Delta {
  readonly type: DeltaType;
  /** The id that the message or call has, or will have when it is stored. */
  readonly streamId: string;
  readonly text: string;
  /** For `tool.output`. */
  readonly channel?: 'stdout' | 'stderr';
  /** For `tool.call_delta`: the tool's name. */
  readonly name?: string;
}

/** A delta for subscribers. `offset` counts the UTF-16 units of this stream and type before it. */
export const deltaEvent = z.object({
  ...envelope,
  seq: z.null(),
  type: deltaType,
  after_seq: z.number().int().nonnegative(),
  stream_id: z.string(),
  offset: z.number().int().nonnegative(),
  data: z.record(z.string(), z.unknown()),
});
export type DeltaEvent = z.infer<typeof deltaEvent>;

export type RunEvent = RecordedFact | DeltaEvent;

/** The event without what only a provider may read; the event itself if it has nothing of the kind. */
export function toShownEvent<Event extends RunEvent>(event: Event): Event {
  if (event.type !== 'message.created') return event;
  const shown = toShownMessage(event.data.message);
  return shown === event.data.message ? event : { ...event, data: { message: shown } };
}

/** The key of the text in the `data` of a delta. */
export const deltaTextKey = (type: DeltaType): 'text' | 'arguments_text' =>
  type === 'tool.call_delta' ? 'arguments_text' : 'text';

/**
 * Claims of a run that one history of the database can hold. When another server or a restored copy takes the database's
 * place, it may lack the last writes. The epoch of every run that is not over is then raised to the next multiple, so
 * that nothing that a holder remembers of lost claims is mistaken for what follows, and so that the epoch of a fact tells
 * in which incarnation of the log it was written.
 */
export const epochsPerIncarnation = 1_000_000;

/** In which incarnation of its run's log a fact with this epoch was written: 0 unless the database was replaced. */
export const readIncarnation = (epoch: number): number => Math.floor(epoch / epochsPerIncarnation);

/** The first epoch of the incarnation after that of this epoch. */
export const nextIncarnation = (epoch: number): number => (readIncarnation(epoch) + 1) * epochsPerIncarnation;
