import {
  type Delta,
  type MessageId,
  type NewFact,
  type NewMessage,
  type Opaque,
  callIdAt,
  characterStart,
  partIdAt,
  textLimits,
} from '@rondo/contract';
import type { DecodedCall, DecodedReply, ReplyChunk, ReplyDecoder, ReplyPiece } from '../dialects/dialect';
import { contentWithCalls } from '../dialects/reply-content';
import { type ThoughtPiece, ThoughtReader } from '../dialects/thought-reader';
import { type LoopContext, type Step, factsStep, toFactsStep } from '../loop-context';
import type { ModelEnd } from '../models/model';
import { isLastAttempt } from '../run/run-state';
import { planCalls } from '../tool-calls/plan-calls';
import { startDuringReply } from '../tool-calls/start-call';
import { wellFormed, WholeCharacters } from '../well-formed';
import { beginReply } from './begin-reply';

/**
 * One reply while it streams. It is stored as one message at its end. With `execute_on_stream` it is stored in parts,
 * each up to a call that is sent while the model continues: the text before a call is in the log before the call is sent
 * (I4), and a crash loses only the last part.
 */
export class Reply {
  private readonly limits = new ReplyLimits();
  private readonly characters = new WholeCharacters();
  private readonly thoughts = new ThoughtReader(() => this.decoder.isInCall);
  private readonly opensThoughts: boolean;
  private decoder: ReplyDecoder;
  private passed = '';
  private hasOnlyText = true;
  private hasNativeCalls = false;
  private parts = 0;
  private storedBlocks = 0;
  private storedCalls = 0;

  constructor(
    private readonly loop: LoopContext,
    private messageId: MessageId,
    private readonly newDecoder: () => ReplyDecoder,
  ) {
    this.decoder = newDecoder();
    this.opensThoughts = mayTrustFirstText(loop);
  }

  /** The text as the model wrote it, calls included, thoughts left out. */
  get written(): string {
    return this.passed + this.thoughts.held;
  }

  /** The rest of the stream is not read. */
  get isFull(): boolean {
    return this.decoder.isFull || this.limits.isFull;
  }

  /** The reply exceeded the limits that hold for every run. */
  get isTooLong(): boolean {
    return this.limits.isFull;
  }

  /** A part of it is in the log, so it cannot be requested again. */
  get hasBegun(): boolean {
    return this.parts > 0;
  }

  /** Whether the model can continue it: not in the middle of a native call. */
  get canContinue(): boolean {
    return !this.isFull && !this.hasNativeCalls && this.written.trim() !== '';
  }

  *receive(given: ReplyChunk): Generator<Step, void> {
    const admitted = this.limits.admit(given);
    const chunk = admitted && this.inWholeCharacters(admitted);
    if (!chunk) return;
    if (chunk.type === 'call_start') this.hasNativeCalls = true;
    if (chunk.type !== 'text') {
      this.hasOnlyText = false;
      yield* this.decode(chunk);
      return;
    }
    for (const text of this.sendsCallsEarly ? splitAfterCalls(chunk.text) : [chunk.text])
      for (const piece of this.thoughts.read(text)) yield* this.take(piece);
  }

  /** The model is asked to go on with it. */
  *resume(): Generator<Step, void> {
    for (const piece of this.thoughts.resume()) yield* this.take(piece);
  }

  /** Undefined where nothing of it is a whole character. */
  private inWholeCharacters(chunk: ReplyChunk): ReplyChunk | undefined {
    if (chunk.type === 'call_start') return wellFormed(chunk);
    if (!('text' in chunk)) return chunk;
    const text = this.characters.next(streamIn(chunk), chunk.text);
    return text === '' && chunk.text !== '' ? undefined : { ...chunk, text };
  }

  /** The whole reply. Shows what was held back because it could have become a call or a thought. `isCutOff`: by its output limit. */
  *end(isCutOff: boolean): Generator<Step, DecodedReply> {
    const last = this.characters.end('text');
    for (const piece of this.thoughts.read(last)) yield* this.take(piece);
    for (const piece of this.thoughts.end()) yield* this.take(piece);
    const decoded = this.decoder.end(isCutOff);
    yield* this.show(decoded.rest);
    return isCutOff ? withReason(decoded) : decoded;
  }

  private *take(piece: ThoughtPiece): Generator<Step, void> {
    if (this.isFull) return;
    switch (piece.type) {
      case 'text':
        this.passed += piece.text;
        yield* this.decode(piece);
        break;
      case 'reasoning':
        this.hasOnlyText = false;
        yield* this.decode(piece);
        break;
      case 'thought_end':
        yield* this.decode({ type: 'reasoning_end' });
        break;
      case 'unopened_thought':
        if (this.hasOnlyText && !this.hasBegun) yield* this.withdrawAsThought();
    }
  }

  /** The text so far was shown, and may hold calls; it is replaced by the same reply with this text as reasoning. */
  private *withdrawAsThought(): Generator<Step, void> {
    const thought = this.passed.trim();
    if (thought === '') return;
    const messageId = this.loop.ports.ids.messageId();
    yield factsStep(this.loop, beginReply(this.loop, messageId));
    this.messageId = messageId;
    this.decoder = this.newDecoder();
    this.passed = '';
    this.hasOnlyText = false;
    yield* this.decode({ type: 'reasoning', text: thought });
    yield* this.decode({ type: 'reasoning_end' });
  }

  private *decode(chunk: ReplyChunk): Generator<Step, void> {
    yield* this.show(this.decoder.push(chunk));
    if (this.sendsCallsEarly) yield* this.sendComplete();
  }

  private show(pieces: readonly ReplyPiece[]): Step[] {
    return pieces.map((piece) => ({ delta: this.toDelta(piece) }));
  }

  /** The facts of the reply at its end: none, or its message and then its calls. */
  *conclude(end: ModelEnd, decoded: DecodedReply): Generator<Step, NewFact[]> {
    switch (end.how) {
      case 'finished':
        if (this.hasBegun || !isEmpty(decoded)) return this.completeMessage(decoded);
        return this.endsTurn ? yield* this.silentMessage(decoded, end.finishReason) : [];
      case 'aborted':
        return this.isFull ? this.completeMessage(decoded) : this.partialMessage(decoded);
      case 'broken':
        return this.hasBegun || isLastAttempt(this.loop.state) ? this.partialMessage(decoded) : [];
      case 'failed':
        return this.partialMessage(decoded);
    }
  }

  /** Calls within the text wait for the end of the reply while all of it may turn out to be a thought. */
  private get sendsCallsEarly(): boolean {
    const { execute_on_stream, dialect } = this.loop.run.settings.processor;
    return execute_on_stream && (dialect === 'native' || !this.hasOnlyText || this.opensThoughts);
  }

  private toDelta(piece: ReplyPiece): Delta {
    this.loop.receipt.recordShown(piece.text, this.loop.ports.clock.now());
    if (piece.type === 'call_arguments') {
      const streamId = this.noteShown(callIdAt(this.messageId, piece.index));
      return { type: 'tool.call_delta', streamId, text: piece.text, name: piece.name };
    }
    const type = piece.type === 'text' ? 'message.delta' : 'reasoning.delta';
    return { type, streamId: this.noteShown(this.partId), text: piece.text };
  }

  private noteShown<Id extends string>(stream: Id): Id {
    this.loop.shown?.streams.add(stream);
    return stream;
  }

  private *sendComplete(): Generator<Step, void> {
    for (let call = this.unsent; call; call = this.unsent) yield* this.storeAndSend(call);
  }

  private get unsent(): DecodedCall | undefined {
    return this.decoder.calls[this.storedCalls];
  }

  /** Stores the reply up to this call and sends the call while the model continues. */
  private *storeAndSend(call: DecodedCall): Generator<Step, void> {
    const facts = this.part({ blocksTo: this.decoder.content.length, calls: [call] });
    yield toFactsStep(this.loop, facts, { hold: true });
    yield* startDuringReply(this.loop);
  }

  /** A second empty reply after tool results ends the turn, and the last attempt does; any other counts as lost, and is asked for again. */
  private get endsTurn(): boolean {
    const { state } = this.loop;
    const followsToolResult = state.conversation.findLast(({ type }) => type !== 'summary')?.type === 'tool';
    return isLastAttempt(state) || (followsToolResult && state.lostReplies > 0);
  }

  private *silentMessage({ content, verdict }: DecodedReply, finishReason: string): Generator<Step, NewFact[]> {
    const words = { type: 'text', text: finishReason === 'length' ? nothingSaid : 'Completed the task.' } as const;
    yield* this.show([words]);
    const message = this.message([...content, words], verdict ? { decision: verdict.decision } : {});
    return [{ type: 'message.created', iteration: this.loop.state.iteration, data: { message } }];
  }

  private completeMessage(decoded: DecodedReply): NewFact[] {
    const calls = decoded.calls.slice(this.storedCalls);
    const verdict = decoded.verdict && { decision: decoded.verdict.decision };
    return this.part({ blocksTo: decoded.content.length, calls, metadata: verdict ?? {} });
  }

  /** Keeps the text that was shown, and drops calls that were not sent yet. */
  private partialMessage(decoded: DecodedReply): NewFact[] {
    return this.part({ blocksTo: decoded.content.length, calls: [], metadata: { partial: true } });
  }

  private part({ blocksTo, calls: decoded, metadata = {} }: ReplyPart): NewFact[] {
    const calls = decoded.map(wellFormed);
    const content = contentWithCalls(
      {
        content: this.decoder.content.slice(this.storedBlocks, blocksTo),
        calls: calls.map((call) => ({ ...call, position: (call.position ?? blocksTo) - this.storedBlocks })),
      },
      (call) => this.callBlock(call),
    );
    if (content.length === 0) return [];

    const message = this.message(content, metadata);
    const facts: NewFact[] = [
      { type: 'message.created', iteration: this.loop.state.iteration, data: { message } },
      ...planCalls(this.loop, { messageId: this.partId, replyId: this.messageId, calls }),
    ];
    this.storedBlocks = blocksTo;
    this.storedCalls += calls.length;
    this.parts += 1;
    return facts;
  }

  private get partId(): MessageId {
    return partIdAt(this.messageId, this.parts);
  }

  private message(content: NewMessage['content'], metadata: Record<string, unknown>): NewMessage {
    const {
      run,
      model,
      state: { iteration },
    } = this.loop;
    return {
      id: this.partId,
      thread_id: run.threadId,
      run_id: run.id,
      iteration,
      type: 'assistant',
      is_llm_message: true,
      content,
      metadata: { model, ...metadata },
    };
  }

  private callBlock(call: DecodedCall): NewMessage['content'][number] {
    return {
      type: 'tool_call',
      tool_call_id: callIdAt(this.messageId, call.index),
      name: call.name,
      arguments: call.arguments,
      ...(call.malformed && { raw_arguments: call.malformed.written }),
      ...(call.opaque && { opaque: call.opaque }),
    };
  }
}

/** The model is told why its last call is malformed: sent again as it was, it would be cut off again. */
function withReason(decoded: DecodedReply): DecodedReply {
  const last = decoded.calls.at(-1);
  if (!last?.malformed) return decoded;
  const malformed = { ...last.malformed, reason: cutOffByLimit };
  return { ...decoded, calls: decoded.calls.with(-1, { ...last, malformed }) };
}

const cutOffByLimit =
  'The reply reached its output limit within this call, so it was not executed. It has to be shorter: write a long file in parts, over several replies.';

const nothingSaid = '[The model reached its output limit before it said anything.]';

interface ReplyPart {
  readonly blocksTo: number;
  readonly calls: readonly DecodedCall[];
  readonly metadata?: Record<string, unknown>;
}

/**
 * Whether the first text of a reply is certainly no thought without its opening mark: such marks are left out by models
 * that a template makes think, of which nothing is known, and then in each of their replies.
 */
function mayTrustFirstText({ ports, model, state }: LoopContext): boolean {
  if (!ports.findFacts || ports.findFacts(model) !== undefined) return true;
  return state.conversation.some(
    ({ type, metadata, content }) =>
      type === 'assistant' &&
      metadata['model'] === model &&
      metadata['partial'] !== true &&
      content[0]?.type !== 'reasoning',
  );
}

const streamIn = (chunk: Extract<ReplyChunk, { text: string }>): string =>
  chunk.type === 'call_arguments' ? `call ${chunk.index}` : chunk.type;

/** Splits text behind every character that may end a call, so that a call is sent before the text after it is read. */
const splitAfterCalls = (text: string): string[] => text.split(/(?<=[>}])/);

const isEmpty = ({ content, calls }: DecodedReply): boolean =>
  calls.length === 0 && !content.some((block) => block.type === 'text' && block.text.trim() !== '');

/**
 * Cuts off a reply that has too much text or too many calls. Every reply is stored, shown and sent again several times,
 * so an unbounded one would exhaust memory.
 */
class ReplyLimits {
  isFull = false;
  private left: number = textLimits.reply;

  /** The part of the chunk that is within the limits. */
  admit(chunk: ReplyChunk): ReplyChunk | undefined {
    if ('index' in chunk && chunk.index >= textLimits.callsInReply) return this.refuse();
    if (chunk.type === 'call_start')
      return this.take(chunk.name.length + measureOpaque(chunk), { ...chunk, name: toShortName(chunk.name) });
    if (chunk.type === 'reasoning_end' || chunk.type === 'call_end') return this.take(measureOpaque(chunk), chunk);
    if (chunk.text.length <= this.left) return this.take(chunk.text.length, chunk);

    const text = chunk.text.slice(0, characterStart(chunk.text, this.left));
    this.refuse();
    return text === '' ? undefined : { ...chunk, text };
  }

  private take(length: number, chunk: ReplyChunk): ReplyChunk | undefined {
    if (length > this.left) return this.refuse();
    this.left -= length;
    return chunk;
  }

  private refuse(): ReplyChunk | undefined {
    this.isFull = true;
    return undefined;
  }
}

/** No tool has so long a name. The beginning is enough to tell the model that the tool does not exist. */
const toShortName = (name: string): string => name.slice(0, textLimits.toolName);

const measureOpaque = ({ opaque }: { readonly opaque?: Opaque }): number =>
  opaque ? JSON.stringify(opaque).length : 0;
