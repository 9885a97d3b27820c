import {
  type FinishReason,
  type Message,
  type MessageId,
  type NewFact,
  type NewMessage,
  type RecordedFact,
  type RunError,
  type Usage,
  type WorkspaceSkill,
  addUsage,
  noUsage,
} from '@rondo/contract';
import { maxReplyAttempts } from '../models/model';
import { leavesProcesses } from '../tools/leaves-processes';
import {
  type CompactionPoint,
  type ContextState,
  type OpenCompaction,
  compactContext,
  initialContext,
  notCompacted,
  openCompaction,
  withEarlierSummary,
} from './context-state';
import { type Ledger, callsAfter } from './ledger';

/** The state of a run, derived from its facts alone. The loop decides everything from it. */
export interface RunState {
  readonly started: boolean;
  readonly ended: boolean;
  readonly iteration: number;
  /** The current iteration: not begun, waiting for the reply, or with the reply in the log. */
  readonly phase: 'between' | 'thinking' | 'acting';
  /** The reply of the current iteration has begun and its end is not in the log. */
  readonly isReplying: boolean;
  /** The id of the reply of the current iteration. */
  readonly messageId: MessageId | undefined;
  readonly modelFinishReason: FinishReason;
  /** The calls of the current iteration, in order. */
  readonly calls: Ledger;
  /** Tools of servers that the model has found or called, in that order: see `shownTools`. */
  readonly loadedTools: readonly string[];
  /** The skills in the repository of its workspace, as they were when the run began. */
  readonly workspaceSkills: readonly WorkspaceSkill[];
  /** A command was sent to the executor, and may have left a process running. */
  readonly ranCommands: boolean;
  /** Every dialogue message that the model may see, in thread order. */
  readonly conversation: readonly (Message | NewMessage)[];
  readonly usage: Usage;
  /** Malformed calls since the last well-formed one. */
  readonly malformedInARow: number;
  /** Attempts at the current reply that failed at the model; crashes of a worker do not count. */
  readonly lostReplies: number;
  /** Why the last of them broke off; undefined if it was only empty. */
  readonly lostBecause: RunError | undefined;
  readonly fallback: FallbackState | undefined;
  /** A compaction that was requested and has not ended. */
  readonly compaction: OpenCompaction | undefined;
  /** How the conversation is reduced for requests. */
  readonly context: ContextState;
  /** The newest state of the browser, if the model has not seen it yet. It is sent once, because it is outdated after that. */
  readonly unseen: readonly NewMessage[];
  readonly startedAt: string | undefined;
  /** When the current wait began, and how long earlier waits were, in milliseconds. */
  readonly waitingSince: string | undefined;
  readonly waitedMs: number;
}

/** What is known of the current reply of a run. Of messages and calls only the ids are read. */
export type ReplyState = Pick<RunState, 'iteration' | 'phase' | 'isReplying' | 'messageId' | 'calls' | 'conversation'>;

const noCalls: RunState['calls'] = new Map();
const noTools: RunState['loadedTools'] = [];

/** The state of a run without facts. */
export const initialState: RunState = {
  started: false,
  ended: false,
  iteration: 0,
  phase: 'between',
  isReplying: false,
  messageId: undefined,
  modelFinishReason: 'stop',
  calls: noCalls,
  loadedTools: noTools,
  workspaceSkills: [],
  ranCommands: false,
  conversation: [],
  usage: noUsage,
  malformedInARow: 0,
  lostReplies: 0,
  lostBecause: undefined,
  fallback: undefined,
  compaction: undefined,
  context: initialContext,
  unseen: [],
  startedAt: undefined,
  waitingSince: undefined,
  waitedMs: 0,
};

/** Whether no other attempt follows if this one breaks off or is empty. */
export const isLastAttempt = ({ lostReplies }: Pick<RunState, 'lostReplies'>): boolean =>
  lostReplies + 1 >= maxReplyAttempts;

/** Providers keep what they cache of a prompt for so long, if nothing else is asked for. */
const usualCacheMs = 5 * 60_000;

/** Whether the run has waited so long, for persons or others, that its prompt was no longer cached. It may wait so again. */
export const waitsLong = ({ waitedMs }: Pick<RunState, 'waitedMs'>): boolean => waitedMs >= usualCacheMs;

/**
 * The state with some fields changed. Lists the fields instead of spreading, so that all states share one hidden class:
 * V8 creates another one at every spread, and property access becomes megamorphic.
 */
const changeState = (state: RunState, changes: Partial<RunState>): RunState =>
  Object.assign<RunState, Partial<RunState>>(
    {
      started: state.started,
      ended: state.ended,
      iteration: state.iteration,
      phase: state.phase,
      isReplying: state.isReplying,
      messageId: state.messageId,
      modelFinishReason: state.modelFinishReason,
      calls: state.calls,
      loadedTools: state.loadedTools,
      workspaceSkills: state.workspaceSkills,
      ranCommands: state.ranCommands,
      conversation: state.conversation,
      usage: state.usage,
      malformedInARow: state.malformedInARow,
      lostReplies: state.lostReplies,
      lostBecause: state.lostBecause,
      fallback: state.fallback,
      compaction: state.compaction,
      context: state.context,
      unseen: state.unseen,
      startedAt: state.startedAt,
      waitingSince: state.waitingSince,
      waitedMs: state.waitedMs,
    },
    changes,
  );

/** The state after a run's log. `earlier` are dialogue messages of the thread that do not belong to the run. */
export function replay(log: readonly RecordedFact[], earlier: readonly Message[] = []): RunState {
  const state = log.reduce<RunState>(evolve, initialState);
  const before = beforeRun(earlier, state.conversation);
  const context = withEarlierSummary(state.context, before);
  return changeState(state, { conversation: [...before, ...state.conversation], context });
}

/**
 * The messages of a thread that a run reads besides its own. What others wrote after the run began is for the next run, so
 * that a prompt does not depend on hand-overs.
 */
function beforeRun(earlier: readonly Message[], own: readonly (Message | NewMessage)[]): readonly Message[] {
  const [first] = own;
  return first && 'seq' in first ? earlier.filter(({ seq }) => seq < first.seq) : earlier;
}

/** The state after one more fact. */
export function evolve(state: RunState, fact: NewFact | RecordedFact): RunState {
  switch (fact.type) {
    case 'run.created':
    case 'run.stop_requested':
    case 'budget.raised': // the run's settings have it
    case 'model.retried':
    case 'mcp.connected':
    case 'mcp.skipped':
    case 'workspace.preparing':
    case 'workspace.rewinding':
    case 'workspace.rewound':
    case 'database.replaced':
    case 'browser.state': // the message that it announces is heard by itself
      return state;
    case 'workspace.prepared':
      return changeState(state, { workspaceSkills: fact.data.skills });
    case 'run.started':
      return changeState(state, { started: true, startedAt: readTime(fact), waitedMs: 0 }); // waits of before do not count
    case 'run.waiting':
    case 'run.resumed':
    case 'run.forked':
      return withWait(state, fact);
    case 'run.completed':
    case 'run.failed':
    case 'run.stopped':
      return changeState(state, { ended: true });
    case 'iteration.started':
      return changeState(withReplyBegun(state, fact.data), { calls: noCalls, lostReplies: 0 });
    case 'iteration.restarted':
      return state.phase === 'acting' ? changeState(state, { isReplying: false }) : withReplyBegun(state, fact.data);
    case 'iteration.completed':
      return changeState(state, { phase: 'between', messageId: undefined });
    case 'message.created':
      return withMessage(state, fact.data.message);
    case 'model.fell_back':
      return changeState(state, { fallback: fallenBack(state.fallback, fact.data) });
    case 'usage.recorded':
      return withUsage(state, fact.data);
    case 'tool.started':
      return withStarted(state, fact);
    case 'tool.planned':
    case 'tool.completed':
      return withLoaded(state, fact);
    case 'tool.failed':
    case 'tool.unknown':
    case 'tool.resolved':
    case 'tool.input_requested':
    case 'tool.input_given':
    case 'tool.task_created':
    case 'secret.requested':
    case 'secret.decided':
    case 'approval.requested':
    case 'approval.decided':
      return changeState(state, { calls: callsAfter(state.calls, fact) });
    case 'context.compaction_started':
    case 'context.compacted':
    case 'context.compaction_failed':
      return withCompaction(state, fact);
  }
}

function withWait(
  state: RunState,
  fact: Extract<NewFact | RecordedFact, { type: 'run.waiting' | 'run.resumed' | 'run.forked' }>,
): RunState {
  switch (fact.type) {
    case 'run.waiting':
      return changeState(state, { waitingSince: state.waitingSince ?? readTime(fact) });
    case 'run.resumed':
      return changeState(state, { waitingSince: undefined, waitedMs: measureWaits(state, state.waitingSince, fact) });
    case 'run.forked':
      return changeState(state, { waitedMs: measureWaits(state, state.startedAt && fact.data.paused_since, fact) });
  }
}

function withCompaction(
  state: RunState,
  fact: Extract<NewFact | RecordedFact, { type: `context.${string}` }>,
): RunState {
  switch (fact.type) {
    case 'context.compaction_started':
      return changeState(state, { compaction: openCompaction(fact.data) });
    case 'context.compacted':
      return changeState(state, {
        compaction: undefined,
        context: compactContext(state.context, fact.data, toPoint(state)),
      });
    case 'context.compaction_failed':
      return changeState(state, { compaction: undefined, context: notCompacted(state.context, toPoint(state)) });
  }
}

const withStarted = (state: RunState, fact: Extract<NewFact | RecordedFact, { type: 'tool.started' }>): RunState =>
  changeState(state, {
    calls: callsAfter(state.calls, fact),
    ranCommands: state.ranCommands || leavesProcesses(fact.data.name),
  });

/** The list stays the same where nothing is added: what a prompt contains of tools is derived from it once. */
function withLoaded(
  state: RunState,
  fact: Extract<NewFact | RecordedFact, { type: 'tool.planned' | 'tool.completed' }>,
): RunState {
  const calls = callsAfter(state.calls, fact);
  const { loaded_tools: newTools = [] } = fact.data;
  if (newTools.length === 0) return changeState(state, { calls });
  const others = state.loadedTools.filter((name) => !newTools.includes(name));
  return changeState(state, { calls, loadedTools: [...others, ...newTools] });
}

/** The last completed iteration. */
export const iterationsDone = ({ phase, iteration }: Pick<RunState, 'phase' | 'iteration'>): number =>
  phase === 'between' ? iteration : iteration - 1;

const toPoint = (state: RunState): CompactionPoint => ({
  compactedIn: iterationsDone(state),
  changedAt: state.conversation.at(-1)?.id,
});

/** A fact has a time once it is recorded. */
const readTime = (fact: NewFact | RecordedFact): string | undefined => ('at' in fact ? fact.at : undefined);

const millisecondsBetween = (from: string | undefined, to: string | undefined): number =>
  from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : 0;

/** How long a run has waited in all, with a wait since then that this fact ends. */
const measureWaits = (
  { waitedMs }: { readonly waitedMs: number },
  since: string | undefined,
  fact: NewFact | RecordedFact,
): number => waitedMs + millisecondsBetween(since, readTime(fact));

interface RecordedCall extends Usage {
  readonly model: string;
  readonly finish_reason: string;
  readonly error?: RunError | undefined;
}

function withUsage(state: RunState, call: RecordedCall): RunState {
  const usage = addUsage(state.usage, call);
  if (isReplyOpenAfter(call.finish_reason)) return changeState(state, { usage });
  return changeState(state, {
    usage,
    fallback: fallbackAfterCall(state.fallback, call),
    isReplying: false,
    modelFinishReason: asFinishReason(call.finish_reason),
    lostReplies: state.phase === 'thinking' ? state.lostReplies + 1 : state.lostReplies,
    lostBecause: call.error,
  });
}

/** Model calls that do not end a reply: a continuation, repair, shorter request or other model follows, or the summarizer made the call. */
const isReplyOpenAfter = (finishReason: string): boolean =>
  ['continued', 'malformed', 'overflow', 'fell_back', 'summary'].includes(finishReason);

/** The finish reason of an iteration, by that of its model call. */
const asFinishReason = (reason: string): FinishReason =>
  reason === 'length' || reason === 'xml_tool_limit_reached' ? reason : 'stop';

/** The model that is asked instead of the run's own, until then (ISO 8601). `times` counts the fallbacks in a row. */
interface FallbackState {
  readonly model: string;
  readonly until: string;
  readonly times: number;
}

type Fallback = FallbackState | undefined;

const fallenBack = (before: Fallback, { to, retry_at }: { to: string; retry_at: string }): Fallback => ({
  model: to,
  until: retry_at,
  times: (before?.times ?? 0) + 1,
});

/** A reply of any other model shows that the run's own model works again. */
const fallbackAfterCall = (before: Fallback, call: { model: string; finish_reason: string }): Fallback =>
  before?.model === call.model || ['failed', 'broken', 'aborted'].includes(call.finish_reason) ? before : undefined;

function withReplyBegun(state: RunState, reply: { iteration: number; message_id: MessageId }): RunState {
  const { iteration, message_id: messageId } = reply;
  return changeState(state, { phase: 'thinking', isReplying: true, iteration, messageId });
}

/** The first message of the reply moves the iteration to `acting`. */
function withMessage(state: RunState, message: Message | NewMessage): RunState {
  if (!message.is_llm_message) return changeState(state, { unseen: withStateMessage(state.unseen, message) });
  const isReply = message.id === state.messageId;
  const hasSeen = isReply && state.unseen.length > 0;
  return changeState(state, {
    unseen: hasSeen ? [] : state.unseen,
    context: hasSeen ? noteChange(state, message) : state.context,
    conversation: [...state.conversation, message],
    phase: isReply ? 'acting' : state.phase,
    malformedInARow: message.type === 'tool' ? countMalformed(state.malformedInARow, message) : state.malformedInARow,
  });
}

/** The state messages that the reply followed are not sent again, so its reasoning must not be sent either. */
const noteChange = ({ context }: RunState, { id }: NewMessage): ContextState => ({ ...context, changedAt: id });

/** The messages that a model has not seen. It is shown only the newest browser state; the image of an `image_context` is in a result. */
const withStateMessage = (unseen: readonly NewMessage[], message: NewMessage): readonly NewMessage[] =>
  message.type === 'browser_state' ? [message] : unseen;

const countMalformed = (before: number, message: Message | NewMessage): number =>
  message.metadata['problem'] === 'malformed' ? before + 1 : 0;
