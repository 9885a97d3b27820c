import {
  type ContextState,
  type CompactionPoint,
  type OpenCompaction,
  compacted,
  withEarlierSummary,
  notCompacted,
  initialContext,
} from '../context/context-state';
import {
  type FinishReason,
  type Message,
  type MessageId,
  type NewFact,
  type NewMessage,
  type RecordedFact,
  type Usage,
  addUsage,
  noUsage,
} from '@rondo/contract';
import { type KnownCalls, callsAfter } from '../tool-calls/ledger';
import { executeCommand } from '../tools/shell.tools';

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
  readonly calls: KnownCalls;
  /** A command was sent to the executor at some time, and may have left something running. */
  readonly ranCommands: boolean;
  /** Every dialogue message that the model may see, in thread order. */
  readonly conversation: readonly (Message | NewMessage)[];
  readonly usage: Usage;
  /** Unreadable calls since the last readable one. */
  readonly malformedInARow: number;
  /** Attempts at the current reply that came to nothing by the model's doing; a crash of ours does not count. */
  readonly lostReplies: number;
  /** A compaction that was asked for and has not ended. */
  readonly compaction: OpenCompaction | undefined;
  /** What is sent of the conversation instead of the whole. */
  readonly context: ContextState;
  /** The newest of each kind of state message that no call of the model has seen yet; each is shown once (LP14). */
  readonly unseen: readonly NewMessage[];
  readonly startedAt: string | undefined;
  /** When it began to wait, and how long it has waited before, in milliseconds. */
  readonly waitingSince: string | undefined;
  readonly waitedMs: number;
}

const noCalls: RunState['calls'] = new Map();

const beginning: RunState = {
  started: false,
  ended: false,
  iteration: 0,
  phase: 'between',
  isSpeaking: false,
  messageId: undefined,
  modelFinishReason: 'stop',
  calls: noCalls,
  ranCommands: false,
  conversation: [],
  usage: noUsage,
  malformedInARow: 0,
  lostReplies: 0,
  compaction: undefined,
  context: initialContext,
  unseen: [],
  startedAt: undefined,
  waitingSince: undefined,
  waitedMs: 0,
};

/**
 * A state with some of it changed. All are made here, field by field, so that they are of one shape: V8 gives what is spread
 * a new one in each place, and then knows the shape of none.
 */
const after = (state: RunState, changes: Partial<RunState>): RunState =>
  Object.assign<RunState, Partial<RunState>>(
    {
      started: state.started,
      ended: state.ended,
      iteration: state.iteration,
      phase: state.phase,
      isSpeaking: state.isSpeaking,
      messageId: state.messageId,
      modelFinishReason: state.modelFinishReason,
      calls: state.calls,
      ranCommands: state.ranCommands,
      conversation: state.conversation,
      usage: state.usage,
      malformedInARow: state.malformedInARow,
      lostReplies: state.lostReplies,
      compaction: state.compaction,
      context: state.context,
      unseen: state.unseen,
      startedAt: state.startedAt,
      waitingSince: state.waitingSince,
      waitedMs: state.waitedMs,
    },
    changes,
  );

/** The state after a run's log. `earlier` are the thread's dialogue messages that are not this run's. */
export function replay(log: readonly RecordedFact[], earlier: readonly Message[] = []): RunState {
  const state = log.reduce<RunState>(evolve, beginning);
  const before = beforeRun(earlier, state.conversation);
  const context = withEarlierSummary(state.context, before);
  return after(state, { conversation: [...before, ...state.conversation], context });
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
      return after(state, { started: true, startedAt: timeOf(fact) });
    case 'run.waiting':
      return after(state, { waitingSince: state.waitingSince ?? timeOf(fact) });
    case 'run.resumed':
      return after(state, {
        waitingSince: undefined,
        waitedMs: state.waitedMs + millisecondsBetween(state.waitingSince, timeOf(fact)),
      });
    case 'run.completed':
    case 'run.failed':
    case 'run.stopped':
      return after(state, { ended: true });
    case 'iteration.started':
      return after(thinking(state, fact.data), { calls: noCalls, lostReplies: 0 });
    case 'iteration.restarted':
      return state.phase === 'acting' ? after(state, { isSpeaking: false }) : thinking(state, fact.data);
    case 'iteration.completed':
      return after(state, { phase: 'between', messageId: undefined });
    case 'message.created':
      return hear(state, fact.data.message);
    case 'usage.recorded':
      return pay(state, fact.data);
    case 'tool.started':
      return after(state, {
        calls: callsAfter(state.calls, fact),
        ranCommands: state.ranCommands || fact.data.name === executeCommand.name,
      });
    case 'tool.planned':
    case 'tool.completed':
    case 'tool.failed':
    case 'tool.unknown':
    case 'tool.resolved':
      return after(state, { calls: callsAfter(state.calls, fact) });
    case 'context.compaction_started': {
      const { compaction_id: id, covers, tokens_before: tokensBefore } = fact.data;
      return after(state, { compaction: { id, covers, tokensBefore } });
    }
    case 'context.compacted':
      return after(state, { compaction: undefined, context: compacted(state.context, fact.data, pointOf(state)) });
    case 'context.compaction_failed':
      return after(state, { compaction: undefined, context: notCompacted(state.context, pointOf(state)) });
  }
}

/** The last iteration that is over. While the next one waits for its reply, nothing has changed yet. */
export const iterationsDone = ({ phase, iteration }: Pick<RunState, 'phase' | 'iteration'>): number =>
  phase === 'between' ? iteration : iteration - 1;

const pointOf = (state: RunState): CompactionPoint => ({
  compactedIn: iterationsDone(state),
  changedAt: state.conversation.at(-1)?.id,
});

/**
 * Calls of a model that do not end the reply: it was cut off by its limit, told to repair it, asked again with less, or
 * the call was a summarizer's.
 */
const goesOn = (finishReason: string): boolean =>
  ['continued', 'malformed', 'overflow', 'summary'].includes(finishReason);

function pay(state: RunState, bill: Usage & { finish_reason: string }): RunState {
  const usage = addUsage(state.usage, bill);
  if (goesOn(bill.finish_reason)) return after(state, { usage });
  return after(state, {
    usage,
    isSpeaking: false,
    modelFinishReason: asFinishReason(bill.finish_reason),
    lostReplies: state.phase === 'thinking' ? state.lostReplies + 1 : state.lostReplies,
  });
}

const thinking = (state: RunState, about: { iteration: number; message_id: MessageId }): RunState =>
  after(state, {
    phase: 'thinking',
    isSpeaking: true,
    iteration: about.iteration,
    messageId: about.message_id,
  });

/** The reply itself moves the iteration on; an unreadable call counts until a readable one comes. */
function hear(state: RunState, message: Message | NewMessage): RunState {
  if (!message.is_llm_message) return after(state, { unseen: withState(state.unseen, message) });
  const isReply = message.id === state.messageId;
  const hasSeen = isReply && state.unseen.length > 0;
  return after(state, {
    unseen: hasSeen ? [] : state.unseen,
    context: hasSeen ? seenBy(state, message) : state.context,
    conversation: [...state.conversation, message],
    phase: isReply ? 'acting' : state.phase,
    malformedInARow: message.type === 'tool' ? countMalformed(state.malformedInARow, message) : state.malformedInARow,
  });
}

const withState = (unseen: RunState['unseen'], message: NewMessage): RunState['unseen'] =>
  message.type === 'browser_state' || message.type === 'image_context'
    ? [...unseen.filter(({ type }) => type !== message.type), message]
    : unseen;

/** What the reply was thought after is not sent again, so its thoughts are not either. */
const seenBy = ({ context }: RunState, reply: NewMessage): ContextState => ({ ...context, changedAt: reply.id });

const countMalformed = (before: number, message: Message | NewMessage): number =>
  message.metadata['problem'] === 'malformed' ? before + 1 : 0;

const timeOf = (fact: NewFact | RecordedFact): string | undefined => ('at' in fact ? fact.at : undefined);

const millisecondsBetween = (from: string | undefined, to: string | undefined): number =>
  from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : 0;

const asFinishReason = (reason: string): FinishReason =>
  reason === 'length' || reason === 'xml_tool_limit_reached' ? reason : 'stop';
