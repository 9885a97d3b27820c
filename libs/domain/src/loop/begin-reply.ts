import { type MessageId, type NewFact, callIdAt, partIdAt, textLimits } from '@rondo/contract';
import type { LoopContext, ModelPause, ShownReply } from '../loop-context';
import type { IdGenerator } from '../ports';
import { type ReplyState, type RunState, evolve } from '../run/run-state';

/** A run whose reply may have been shown; by this activation, if it knows what. */
interface ReplyingRun {
  readonly state: ReplyState;
  readonly ports: { readonly ids: Pick<IdGenerator, 'messageId'> };
  readonly shown?: ShownReply | undefined;
}

/** Starts the next iteration, or a new attempt at the reply of the current one. */
export function beginReply(loop: LoopContext, messageId: MessageId): NewFact {
  const fact = loop.state.phase === 'thinking' ? restart(loop, messageId, loop.pause) : start(loop, messageId);
  loop.shown = { messageId, streams: new Set() };
  return fact;
}

function start({ state }: ReplyingRun, message_id: MessageId): NewFact {
  const iteration = state.iteration + 1;
  return { type: 'iteration.started', iteration, data: { iteration, message_id } };
}

/** A reply of which a part is stored is not requested again: withdraws what a crash cut off after that part. */
export const withdrawRest = (run: ReplyingRun): NewFact =>
  restart(run, run.state.messageId ?? run.ports.ids.messageId());

/** Withdraws, when a run ends, what was shown and not stored, so that no reader keeps a text that no log has. */
export function withdrawUnstored(run: ReplyingRun): NewFact[] {
  if (run.state.phase === 'thinking')
    return withdrawnStreams(run).length > 0 ? [restart(run, run.ports.ids.messageId())] : [];
  const mayBeOpen = run.state.phase === 'acting' && (run.state.isReplying || isKnown(run));
  return mayBeOpen && withdrawnStreams(run).length > 0 ? [withdrawRest(run)] : [];
}

const restart = (run: ReplyingRun, message_id: MessageId, retry?: ModelPause): NewFact => {
  const { iteration } = run.state;
  return {
    type: 'iteration.restarted',
    iteration,
    data: { iteration, message_id, withdrawn_stream_ids: withdrawnStreams(run), ...(retry && { retry }) },
  };
};

const isKnown = ({ state, shown }: ReplyingRun): boolean => shown !== undefined && shown.messageId === state.messageId;

/** The streams of the current reply that were shown, or may have been by an earlier holder, and will never be stored. */
function withdrawnStreams(run: ReplyingRun): string[] {
  const { messageId, calls, conversation } = run.state;
  if (!messageId) return [];
  const storedIds = new Set<string>([...conversation.map(({ id }) => id), ...calls.keys()]);
  const streams = isKnown(run) && run.shown ? [...run.shown.streams] : possibleStreams(messageId);
  return streams.filter((id) => !storedIds.has(id));
}

/** Each call may end a part, and a text may follow the last of them. */
const possibleStreams = (reply: MessageId): string[] => [
  ...Array.from({ length: textLimits.callsInReply + 1 }, (_, index) => partIdAt(reply, index)),
  ...Array.from({ length: textLimits.callsInReply }, (_, index) => callIdAt(reply, index)),
];

/**
 * What an iteration begins with: a run that has read a message asks the model next. Its queued run ends with the same commit.
 */
export function readMessages({ unread, run, state, ports }: LoopContext): NewFact[] {
  if (state.phase === 'thinking') return [];
  return unread.map(({ queuedRun, content }) => ({
    type: 'message.created',
    iteration: state.iteration,
    data: {
      message: {
        id: ports.ids.messageId(),
        ...{ thread_id: run.threadId, run_id: run.id, iteration: null },
        ...{ type: 'user', is_llm_message: true, content: [...content], metadata: { queued_as: queuedRun } },
      },
    },
  }));
}

/** The loop as it is once they are read: the next request has them. */
export const withMessages = (loop: LoopContext, messages: readonly NewFact[]): LoopContext =>
  messages.length === 0 ? loop : { ...loop, state: messages.reduce<RunState>(evolve, loop.state) };
