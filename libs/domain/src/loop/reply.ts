import type { DecodedCall, DecodedReply, ReplyChunk, ReplyDecoder, ReplyPiece } from '../dialects/dialect';
import { contentWithCalls } from '../dialects/reply-content';
import { type Delta, type MessageId, type NewFact, type NewMessage, callIdAt, partIdAt } from '@rondo/contract';
import type { ModelEnd } from '../models/model';
import { type LoopContext, type Step, factsStepOf } from './loop-context';
import { planCalls } from '../tool-calls/plan-calls';
import { ReplyLimits } from './reply-limits';
import { startWhileSpeaking } from '../tool-calls/start-call';

/**
 * One reply while it arrives. It is stored as one message when it is whole. With `execute_on_stream` it is stored in
 * parts, each up to a call that may go out while the model still speaks: what was said before a call is in the log
 * before the call is (I4), and what a crash cuts off is the last part only.
 */
export class Reply {
  /** As the model wrote it, calls and all. */
  written = '';
  private readonly room = new ReplyLimits();
  private hasNativeCalls = false;
  private parts = 0;
  private storedBlocks = 0;
  private storedCalls = 0;

  constructor(
    private readonly loop: LoopContext,
    private readonly messageId: MessageId,
    private readonly decoder: ReplyDecoder,
  ) {}

  /** No more of it is heard. */
  get isFull(): boolean {
    return this.decoder.isFull || this.room.isFull;
  }

  /** It was cut off because it is longer than a reply may be, whatever the run's settings are. */
  get isTooLong(): boolean {
    return this.room.isFull;
  }

  /** A part of it is in the log already, so it cannot be asked for anew. */
  get hasBegun(): boolean {
    return this.parts > 0;
  }

  /** The model can be asked for the rest: a native call that was cut off cannot be taken up again. */
  get canGoOn(): boolean {
    return !this.isFull && !this.hasNativeCalls && this.written.trim() !== '';
  }

  *hear(given: ReplyChunk): Generator<Step, void> {
    const chunk = this.room.admit(given);
    if (!chunk) return;
    if (chunk.type === 'text') this.written += chunk.text;
    if (chunk.type === 'call_start') this.hasNativeCalls = true;

    for (const step of this.releasesCalls ? endingWithCalls(chunk) : [chunk]) {
      yield* this.passOn(this.decoder.push(step));
      const call = this.releasesCalls ? this.decoder.calls[this.storedCalls] : undefined;
      if (call) yield* this.release(call);
    }
  }

  /** What it says as a whole. What was held back of it is then to be passed on. */
  end(): DecodedReply {
    return this.decoder.end();
  }

  passOn(pieces: readonly ReplyPiece[]): Step[] {
    return pieces.map((piece) => ({ delta: this.show(piece) }));
  }

  /** The facts that the end of the reply leaves behind: nothing, or its message first. */
  conclude(end: ModelEnd, decoded: DecodedReply): NewFact[] {
    switch (end.how) {
      case 'finished':
        if (this.hasBegun || !isEmpty(decoded)) return this.whole(decoded);
        return this.answersTools ? this.silence(decoded) : [];
      case 'aborted':
        return this.isFull ? this.whole(decoded) : this.shown(decoded);
      case 'broken':
        return this.hasBegun ? this.shown(decoded) : [];
      case 'failed':
        return this.shown(decoded);
    }
  }

  private get releasesCalls(): boolean {
    return this.loop.run.settings.processor.execute_on_stream;
  }

  private show(piece: ReplyPiece): Delta {
    this.loop.receipt.shown(piece.text, this.loop.ports.clock.now());
    if (piece.type === 'call_arguments') {
      const streamId = callIdAt(this.messageId, piece.index);
      return { type: 'tool.call_delta', streamId, text: piece.text, name: piece.name };
    }
    const type = piece.type === 'text' ? 'message.delta' : 'reasoning.delta';
    return { type, streamId: this.partId, text: piece.text };
  }

  /** Stores the reply up to this call, and sends the call out while the model goes on. */
  private *release(call: DecodedCall): Generator<Step, void> {
    const facts = this.part({ blocksTo: this.decoder.content.length, calls: [call] });
    yield factsStepOf(this.loop, facts, { hold: true });
    yield* startWhileSpeaking(this.loop);
  }

  /** After the results of tools, saying nothing more is an end; else it is a reply that got lost. */
  private get answersTools(): boolean {
    return this.loop.state.conversation.findLast(({ type }) => type !== 'summary')?.type === 'tool';
  }

  private silence({ content }: DecodedReply): NewFact[] {
    const message = this.message([...content], {});
    return [{ type: 'message.created', iteration: this.loop.state.iteration, data: { message } }];
  }

  private whole(decoded: DecodedReply): NewFact[] {
    const calls = decoded.calls.slice(this.storedCalls);
    const verdict = decoded.verdict && { decision: decoded.verdict.decision };
    return this.part({ blocksTo: decoded.content.length, calls, metadata: verdict ?? {} });
  }

  /** Text that was shown is kept, also when the rest never came; calls that were not released are not. */
  private shown(decoded: DecodedReply): NewFact[] {
    return this.part({ blocksTo: decoded.content.length, calls: [], metadata: { partial: true } });
  }

  private part({ blocksTo, calls, metadata = {} }: ReplyPart): NewFact[] {
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
      metadata: { model: run.settings.model, ...metadata },
    };
  }

  private callBlock(call: DecodedCall): NewMessage['content'][number] {
    return {
      type: 'tool_call',
      tool_call_id: callIdAt(this.messageId, call.index),
      name: call.name,
      arguments: call.arguments,
      ...(call.malformed && { raw_arguments: call.malformed.written }),
    };
  }
}

interface ReplyPart {
  readonly blocksTo: number;
  readonly calls: readonly DecodedCall[];
  readonly metadata?: Record<string, unknown>;
}

/** A call in text ends with one of these: fed up to there, what follows a call is not yet heard when it goes out. */
const endingWithCalls = (chunk: ReplyChunk): ReplyChunk[] =>
  chunk.type === 'text' ? chunk.text.split(/(?<=[>}])/).map((text) => ({ type: 'text', text })) : [chunk];

const isEmpty = ({ content, calls }: DecodedReply): boolean =>
  calls.length === 0 && !content.some((block) => block.type === 'text' && block.text.trim() !== '');
