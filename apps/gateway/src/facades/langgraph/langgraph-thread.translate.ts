import { type Message, type RecordedFact, type Run, characterStart } from '@rondo/contract';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { type PositionedEvent, PositionedReader, readInteger, toInteger } from '../positions';
import { isQuestion } from '../run-answer';
import { isSilent } from '../silent-facts';
import { type GraphInterrupt, type GraphMessage, type MessageState, toInterrupts } from './langgraph.messages';
import { findLimitError, toSegmentName } from './langgraph.translate';

type Method = 'values' | 'messages' | 'tools' | 'lifecycle' | 'input.requested' | 'input.answered';

/** An event of the protocol in which clients follow a thread. */
export interface ThreadFrame {
  readonly type: 'event';
  /** The same on every connection: a client reads again what it has, and leaves out what has an id that it knows. */
  readonly event_id: string;
  /** By the place in the log of the thread. */
  readonly seq: number;
  readonly method: Method;
  readonly params: { namespace: readonly []; timestamp: number; node?: 'agent' | 'tools'; data: object };
}

/** Says that facts of a run have been deleted. */
const trimmed = {
  type: 'error',
  id: null,
  error: 'unknown_error',
  message: 'Events of this run have been deleted: read the state of the thread.',
} as const;

export interface FollowedRun {
  readonly runId: Run['id'];
  readonly graphName: string;
  readonly place: number;
  /** Facts of the runs before it. */
  readonly factsBefore: number;
  /** The seq of the last frame that the client has. */
  readonly since: number;
  /** A wait up to this fact is over. A client that reads it again would take it for the end of what it reads. */
  readonly overThrough: number;
}

type Shown = Pick<ThreadFrame, 'method'> & Pick<ThreadFrame['params'], 'node' | 'data'>;

/** A block of a reply while it is written. */
interface OpenBlock {
  readonly type: 'text' | 'reasoning';
  readonly index: number;
  /** Units of this type in the message before it. */
  readonly before: number;
  text: string;
  /** How much of the text was shown. */
  shown: number;
}

interface OpenMessage {
  readonly id: string;
  readonly lengths: Record<OpenBlock['type'], number>;
  block: OpenBlock | undefined;
}

type Piece = Extract<PositionedEvent, { type: 'text' | 'reasoning' }>;
type Fact<Type extends RecordedFact['type']> = Extract<RecordedFact, { type: Type }>;

/** Frames of the fact that a reply follows come before those of its text, which are in this order at one place of it. */
const textFrom = 1_024;
const atPlace = { delta: 0, blockEnd: 1, messageStart: 2, blockStart: 3 } as const;
const framesAtPlace = 4;

/**
 * What a client that follows a thread sees of one of its runs: facts and deltas in, frames out, without I/O and without a clock. It
 * has to see the run from its first fact, with the messages before it in `state`.
 *
 * Clients open a new stream for each thing that they look at, read it from the beginning, and drop the frames whose ids they have.
 * So text is cut by its length alone, whatever deltas it came in, and a piece that is read again has the id that it had.
 */
export class LangGraphThreadTranslator {
  private readonly reader: PositionedReader;
  /** The fact that the open reply follows, and the fact that ends it, counted in the thread. */
  private opened: number;
  private closed = Infinity;
  /** Units of the open reply that were shown. */
  private units = 0;
  private message: OpenMessage | undefined;
  private readonly startedCalls = new Set<string>();
  /** Ids of what the run waits for, and the seq of the fact that says so. */
  private asked: readonly string[] = [];
  private askedAt = 0;
  private segment: string;
  private timestamp = 0;

  constructor(
    private readonly followed: FollowedRun,
    private readonly state: MessageState,
  ) {
    const { runId, place, factsBefore } = followed;
    this.opened = factsBefore;
    this.segment = toSegmentName({ runId, after: 0 });
    this.reader = new PositionedReader({ place, seq: 0, units: 0 });
  }

  translate(event: SubscriberEvent): readonly (ThreadFrame | typeof trimmed)[] {
    if (!isNotice(event)) this.timestamp = Date.parse(event.at);
    this.closed = endsReply(event) ? this.followed.factsBefore + event.seq : Infinity;
    return this.reader.read(event).flatMap<ThreadFrame | typeof trimmed>((each) => {
      if (each.type === 'notice') return [trimmed];
      return each.type === 'fact' ? this.readFact(each.fact) : this.keepUnknownText(this.readText(each));
    });
  }

  private readText({ type, messageId, text }: Piece): ThreadFrame[] {
    const frames: ThreadFrame[] = [];
    if (this.message?.id !== messageId) {
      this.message = { id: messageId, lengths: { text: 0, reasoning: 0 }, block: undefined };
      frames.push(this.placeInText(`${messageId}.start`, 'messageStart', startMessage(messageId)));
    }
    const { message } = this;
    let { block } = message;
    if (block?.type !== type) {
      if (block) {
        frames.push(...this.showText(message, block, true));
        frames.push(this.placeInText(`${messageId}.${block.index}.end`, 'blockEnd', endBlock(block)));
      }
      block = { type, index: block ? block.index + 1 : 0, before: message.lengths[type], text: '', shown: 0 };
      message.block = block;
      const id = `${messageId}.${block.index}.start`;
      frames.push(this.placeInText(id, 'blockStart', startBlock(block.index, { type, [type]: '' })));
    }
    block.text += text;
    return [...frames, ...this.showText(message, block, false)];
  }

  /** The pieces that no frame has shown yet; the last one only if no more of the block follows. */
  private showText({ id, lengths }: OpenMessage, block: OpenBlock, isWhole: boolean): ThreadFrame[] {
    const { type, index, text } = block;
    const frames: ThreadFrame[] = [];
    for (;;) {
      const end = block.shown + findLength(block.shown);
      if (block.shown === text.length || (end > text.length && !isWhole)) return frames;
      const piece = text.slice(block.shown, characterStart(text, end));
      block.shown += piece.length;
      this.units += piece.length;
      lengths[type] = block.before + block.shown;
      const delta = { type: `${type}-delta`, [type]: piece };
      const shown = toMessages({ event: 'content-block-delta', index, delta });
      frames.push(this.placeInText(`${id}.${type}.${lengths[type]}`, 'delta', shown));
    }
  }

  private placeInText(id: string, place: keyof typeof atPlace, shown: Shown): ThreadFrame {
    const units = textFrom + this.units * framesAtPlace + atPlace[place];
    return this.toFrame(shown, { id, seq: toInteger({ facts: this.opened, units }) });
  }

  /** Calls may be carried out while a reply is written. A client that has come so far may lack a part of the text before. */
  private keepUnknownText(frames: readonly ThreadFrame[]): ThreadFrame[] {
    const { since } = this.followed;
    const { facts } = readInteger(since);
    const isKnownByOrder = facts <= this.opened || this.closed <= facts;
    return frames.filter(({ seq }) => seq > since || !isKnownByOrder);
  }

  private readFact(fact: RecordedFact): ThreadFrame[] {
    const { place, factsBefore, since, overThrough } = this.followed;
    const { message } = this;
    const rest = endsReply(fact) && message?.block ? this.showText(message, message.block, true) : [];
    const text = this.keepUnknownText(rest);
    const shown = [...(fact.seq === 1 ? [this.toLifecycle('running')] : []), ...this.showFact(fact)];
    if (opensReply(fact)) {
      this.opened = factsBefore + fact.seq;
      this.units = 0;
      this.message = undefined;
    }
    const frames = shown.map((each, index) => {
      const id = `${place}.${fact.seq}.${index}`;
      const seq = toInteger({ facts: factsBefore + fact.seq, units: index });
      return this.toFrame(each, { id: each.method === 'lifecycle' ? `synth:${this.segment}:${id}` : id, seq });
    });
    const isOver = fact.type === 'run.waiting' && fact.seq <= overThrough;
    return [...text, ...frames.filter(({ seq }) => seq > since && !isOver)];
  }

  private toFrame(
    { method, data, node }: Shown,
    { id, seq }: { readonly id: string; readonly seq: number },
  ): ThreadFrame {
    const { timestamp } = this;
    const params = { namespace: [] as const, timestamp, ...(node && { node }), data };
    return { type: 'event', event_id: id, seq, method, params };
  }

  private showFact(fact: RecordedFact): Shown[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'iteration.restarted':
        return [this.toValues(), ...this.withdraw(fact)];
      case 'message.created':
        return this.showMessage(fact.data.message);
      case 'tool.started':
        return this.startCall(fact.data);
      case 'tool.completed':
      case 'tool.failed':
        return this.endCall(fact.data);
      case 'tool.unknown':
        return [toToolError(fact.data.tool_call_id, fact.data.reason)];
      case 'run.waiting':
        return this.wait(fact);
      case 'run.resumed':
        return this.resume();
      case 'run.completed':
        return this.end(findLimitError(fact.data.finish_reason) ?? 'completed');
      case 'run.failed':
        return this.end(fact.data.error);
      case 'run.stopped':
        return this.end('interrupted');
      case 'run.started':
      case 'run.stop_requested':
      case 'iteration.started':
      case 'iteration.completed':
      case 'model.retried':
      case 'model.fell_back':
      case 'usage.recorded':
      case 'tool.planned':
      case 'approval.requested':
      case 'approval.decided':
      case 'context.compacted':
        return [];
    }
  }

  /** Nothing to those who have seen nothing of it. */
  private withdraw({ data }: Fact<'iteration.restarted'>): Shown[] {
    const { message } = this;
    if (!message || !data.withdrawn_stream_ids.includes(message.id)) return [];
    return [toMessages({ event: 'error', code: 'withdrawn', message: 'The reply broke off, and is asked for again.' })];
  }

  private showMessage(message: Message): Shown[] {
    const added = this.state.add(message);
    const open = message.type === 'assistant' ? this.message : undefined;
    const shown = added.flatMap((each) => (each.type === 'ai' ? toParts(each, open) : []));
    const end =
      open && added.length === 0 ? [...(open.block ? [endBlock(open.block)] : []), finishMessage('stop')] : [];
    return [...shown, ...end, ...(added.length > 0 ? [this.toValues()] : [])];
  }

  private toValues(): Shown {
    return { method: 'values', data: { messages: [...this.state.messages] } };
  }

  private startCall({ tool_call_id: id, name }: { readonly tool_call_id: string; readonly name: string }): Shown[] {
    if (name === 'complete' || isQuestion(name) || this.startedCalls.has(id)) return [];
    this.startedCalls.add(id);
    const input = this.state.findCall(id)?.arguments ?? {};
    return [toTools({ event: 'tool-started', tool_call_id: id, tool_name: name, input })];
  }

  private endCall(data: Fact<'tool.completed' | 'tool.failed'>['data']): Shown[] {
    const { tool_call_id: id, name, result } = data;
    const started = this.startCall(data);
    if (!this.startedCalls.has(id)) return [];
    const { success, output, error } = result;
    const end = success
      ? toTools({ event: 'tool-finished', tool_call_id: id, tool_name: name, output })
      : toToolError(id, error ?? output);
    return [...started, end];
  }

  /** What is new of what the run waits for, and what no longer is. */
  private wait({ run_id: runId, seq, data }: Fact<'run.waiting'>): Shown[] {
    if (data.reason === 'child_runs') return [];
    const interrupts = toInterrupts(data, runId, this.state);
    const known = this.asked;
    const ids = interrupts.map(({ id }) => id);
    const answered = toAnswered(known.filter((id) => !ids.includes(id)));
    const requested = interrupts.filter(({ id }) => !known.includes(id)).map(toRequested);
    this.asked = ids;
    this.askedAt = seq;
    return [...answered, ...requested, this.toLifecycle('interrupted')];
  }

  private resume(): Shown[] {
    if (this.asked.length === 0) return [];
    const answered = toAnswered(this.asked);
    this.asked = [];
    this.segment = toSegmentName({ runId: this.followed.runId, after: this.askedAt });
    return [this.toLifecycle('running'), ...answered];
  }

  private end(how: 'completed' | 'interrupted' | { readonly message: string }): Shown[] {
    const answered = toAnswered(this.asked);
    const ending = typeof how === 'string' ? this.toLifecycle(how) : this.toLifecycle('failed', { error: how.message });
    return [...answered, ending];
  }

  private toLifecycle(event: string, more: object = {}): Shown {
    return { method: 'lifecycle', data: { event, graph_name: this.followed.graphName, ...more } };
  }
}

/** How long the piece is that begins there. The first ones are short, so that a reply is seen at once. */
const findLength = (from: number): number => (from < 32 ? 4 : 16);

const endsReply = (event: SubscriberEvent): event is Fact<'message.created'> =>
  event.type === 'message.created' && event.data.message.type === 'assistant';

/** As positions have it: after it, what was shown of a reply is stored or withdrawn. */
const opensReply = (fact: RecordedFact): boolean =>
  fact.type === 'iteration.started' || fact.type === 'iteration.restarted' || endsReply(fact);

const toMessages = (data: object): Shown => ({ method: 'messages', node: 'agent', data });
const toTools = (data: object): Shown => ({ method: 'tools', node: 'tools', data });
const toToolError = (id: string, message: string): Shown => toTools({ event: 'tool-error', tool_call_id: id, message });

const startMessage = (id: string): Shown => toMessages({ event: 'message-start', role: 'ai', id });
const finishMessage = (reason: string): Shown => toMessages({ event: 'message-finish', reason });
const startBlock = (index: number, content: object): Shown =>
  toMessages({ event: 'content-block-start', index, content });
const finishBlock = (index: number, content: object): Shown =>
  toMessages({ event: 'content-block-finish', index, content });
const endBlock = ({ type, index, text }: OpenBlock): Shown => finishBlock(index, { type, [type]: text });

/** What no piece of text has shown of a message. */
function toParts(message: GraphMessage, open: OpenMessage | undefined): Shown[] {
  const { id, content } = message;
  const calls = [message['tool_calls'], message['invalid_tool_calls']].flat() as readonly object[];
  const text = open || content === '' ? [] : [startBlock(0, { type: 'text', text: content }), finishBlock(0, { type: 'text', text: content })]; // prettier-ignore
  const written = open?.block ? [endBlock(open.block)] : text;
  const first = open?.block ? open.block.index + 1 : text.length > 0 ? 1 : 0;
  return [
    ...(open ? [] : [startMessage(id)]),
    ...written,
    ...calls.flatMap((call, index) => toCall(call, first + index)),
    finishMessage(calls.length > 0 ? 'tool_use' : 'stop'),
  ];
}

/** A call, whole: its arguments are not stored as they were written, so pieces of them would differ when they are read again. */
const toCall = (call: object, index: number): Shown[] => [
  startBlock(index, { ...call, type: 'tool_call_chunk', args: '' }),
  finishBlock(index, call),
];

const toRequested = ({ id, value }: GraphInterrupt): Shown => ({
  method: 'input.requested',
  data: { interrupt_id: id, payload: value },
});

const toAnswered = (ids: readonly string[]): Shown[] =>
  ids.length === 0 ? [] : [{ method: 'input.answered', data: { interrupt_ids: ids } }];
