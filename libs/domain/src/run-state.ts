import type { CallId, MessageId } from './ids';
import type { Message, NewMessage } from './message';
import { type FinishReason, type Usage, addUsage, noUsage } from './run';
import type { NewFact, RecordedFact } from './run-event';
import type { ToolCall, ToolCallStatus } from './tool-call';

/** A call of the current iteration, as far as the log tells. */
export interface KnownCall {
  readonly call: ToolCall;
  readonly status: ToolCallStatus;
  /** Where it was to be sent; see Tools.store. */
  readonly store: string | null;
}

/** Where a run stands, as far as its facts tell. Everything the loop decides, it decides from this. */
export interface RunState {
  readonly started: boolean;
  readonly ended: boolean;
  readonly iteration: number;
  /** The current iteration: not begun, waiting for the reply, or with the reply in the log. */
  readonly phase: 'between' | 'thinking' | 'acting';
  /** The reply of the current iteration has begun and not ended, as far as the log tells. */
  readonly isSpeaking: boolean;
  /** The id of the reply of the current iteration. */
  readonly messageId: MessageId | undefined;
  readonly modelFinishReason: FinishReason;
  /** The calls of the current iteration, in order. */
  readonly calls: ReadonlyMap<CallId, KnownCall>;
  /** Every dialogue message that the model may see, in thread order. */
  readonly conversation: readonly (Message | NewMessage)[];
  readonly usage: Usage;
  /** Unreadable calls since the last readable one. */
  readonly malformedInARow: number;
  /** Attempts at the current reply that came to nothing by the model's doing; a crash of ours does not count. */
  readonly lostReplies: number;
  readonly startedAt: string | undefined;
  /** When it began to wait, and how long it has waited before, in milliseconds. */
  readonly waitingSince: string | undefined;
  readonly waitedMs: number;
}

const beginning: RunState = {
  started: false,
  ended: false,
  iteration: 0,
  phase: 'between',
  isSpeaking: false,
  messageId: undefined,
  modelFinishReason: 'stop',
  calls: new Map(),
  conversation: [],
  usage: noUsage,
  malformedInARow: 0,
  lostReplies: 0,
  startedAt: undefined,
  waitingSince: undefined,
  waitedMs: 0,
};

/** The state after a run's log. `earlier` are the thread's dialogue messages that are not this run's. */
export function replay(log: readonly RecordedFact[], earlier: readonly Message[] = []): RunState {
  const state = log.reduce<RunState>(evolve, beginning);
  return { ...state, conversation: [...beforeRun(earlier, state.conversation), ...state.conversation] };
}

/** What others wrote into the thread after the run began is for the next run: a prompt must not depend on hand-overs. */
function beforeRun(earlier: readonly Message[], own: RunState['conversation']): readonly Message[] {
  const [first] = own;
  return first && 'seq' in first ? earlier.filter(({ seq }) => seq < first.seq) : earlier;
}

/** The state after one more fact. Facts of others (a stop request, say) change nothing here. */
export function evolve(state: RunState, fact: NewFact | RecordedFact): RunState {
  switch (fact.type) {
    case 'run.created':
    case 'run.stop_requested':
    case 'model.retried':
      return state;
    case 'run.started':
      return { ...state, started: true, startedAt: timeOf(fact) };
    case 'run.waiting':
      return { ...state, waitingSince: timeOf(fact) };
    case 'run.resumed':
      return {
        ...state,
        waitingSince: undefined,
        waitedMs: state.waitedMs + millisecondsBetween(state.waitingSince, timeOf(fact)),
      };
    case 'run.completed':
    case 'run.failed':
    case 'run.stopped':
      return { ...state, ended: true };
    case 'iteration.started':
      return { ...state, ...thinking(fact.data), calls: new Map(), lostReplies: 0 };
    case 'iteration.restarted':
      return state.phase === 'acting' ? { ...state, isSpeaking: false } : { ...state, ...thinking(fact.data) };
    case 'iteration.completed':
      return { ...state, phase: 'between', messageId: undefined };
    case 'message.created':
      return hear(state, fact.data.message);
    case 'usage.recorded':
      return pay(state, fact.data);
    case 'tool.planned':
      return know(state, { call: fact.data.tool_call, status: 'planned', store: null });
    case 'tool.started':
      return mark(state, fact.data.tool_call_id, { status: 'dispatched', store: fact.data.store });
    case 'tool.completed':
      return mark(state, fact.data.tool_call_id, { status: 'completed' });
    case 'tool.failed':
      return mark(state, fact.data.tool_call_id, { status: 'failed' });
    case 'tool.unknown':
      return mark(state, fact.data.tool_call_id, { status: 'unknown' });
  }
}

/** A call of the model that is followed by another one of the same reply: cut off by its limit, or told to repair it. */
const goesOn = (finishReason: string): boolean => finishReason === 'continued' || finishReason === 'malformed';

function pay(state: RunState, bill: Usage & { finish_reason: string }): RunState {
  const usage = addUsage(state.usage, bill);
  if (goesOn(bill.finish_reason)) return { ...state, usage };
  return {
    ...state,
    usage,
    isSpeaking: false,
    modelFinishReason: asFinishReason(bill.finish_reason),
    lostReplies: state.phase === 'thinking' ? state.lostReplies + 1 : state.lostReplies,
  };
}

const thinking = (data: { iteration: number; message_id: MessageId }) => ({
  phase: 'thinking' as const,
  isSpeaking: true,
  iteration: data.iteration,
  messageId: data.message_id,
});

/** The reply itself moves the iteration on; an unreadable call counts until a readable one comes. */
function hear(state: RunState, message: Message | NewMessage): RunState {
  if (!message.is_llm_message) return state;
  return {
    ...state,
    conversation: [...state.conversation, message],
    phase: message.id === state.messageId ? 'acting' : state.phase,
    malformedInARow: message.type === 'tool' ? countMalformed(state.malformedInARow, message) : state.malformedInARow,
  };
}

const countMalformed = (before: number, message: Message | NewMessage): number =>
  message.metadata['problem'] === 'malformed' ? before + 1 : 0;

const know = (state: RunState, known: KnownCall): RunState => ({
  ...state,
  calls: new Map(state.calls).set(known.call.id, known),
});

function mark(state: RunState, id: CallId, change: Partial<KnownCall>): RunState {
  const known = state.calls.get(id);
  return known ? know(state, { ...known, ...change }) : state;
}

export const openCalls = (state: RunState): KnownCall[] =>
  [...state.calls.values()].filter(({ status }) => status === 'planned' || status === 'dispatched');

const timeOf = (fact: NewFact | RecordedFact): string | undefined => ('at' in fact ? fact.at : undefined);

const millisecondsBetween = (from: string | undefined, to: string | undefined): number =>
  from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : 0;

const asFinishReason = (reason: string): FinishReason =>
  reason === 'length' || reason === 'xml_tool_limit_reached' ? reason : 'stop';
