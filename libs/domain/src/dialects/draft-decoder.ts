import type { DecodedCall, DecodedReply, ReplyChunk, ReplyDecoder, ReplyPiece, ReplyVerdict } from './dialect';

/**
 * Keeps a call from being made that stands behind a mark of which it is not known whether it opens a thought, such as in
 * `Let me see <think>I could <list-files/>`. The text from such a mark on is held back until its closing mark, or the end of
 * the reply: if there is a call in it, it was a thought and becomes reasoning, else it was text that speaks of the mark.
 */
export class DraftDecoder implements ReplyDecoder {
  private readonly inner: ReplyDecoder;
  private held: HeldText | undefined;
  private followsThought = false;

  /** The decoders of a dialect whose calls stand within the text. */
  constructor(private readonly newDecoder: () => ReplyDecoder) {
    this.inner = newDecoder();
  }

  get content(): DecodedReply['content'] {
    return this.inner.content;
  }

  get calls(): readonly DecodedCall[] {
    return this.inner.calls;
  }

  get isFull(): boolean {
    return this.inner.isFull;
  }

  get isInCall(): boolean {
    return this.inner.isInCall || this.held?.decoder.isInCall === true;
  }

  push(chunk: ReplyChunk): readonly ReplyPiece[] {
    if (!belongsToText(chunk)) return this.inner.push(chunk);
    if (this.held) return this.hold(this.held, chunk);
    if (chunk.type === 'text' && chunk.mark === 'may open') {
      const held = { chunks: [], depth: 0, decoder: this.newDecoder() };
      this.held = held;
      return this.hold(held, chunk);
    }
    return this.inner.push(this.withoutSpaceAfterThought(chunk));
  }

  end(isCutOff?: boolean): DecodedReply {
    const { held } = this;
    this.held = undefined;
    const isDraft = held !== undefined && held.decoder.end().calls.length > 0;
    const pieces = held ? this.release(held, isDraft) : [];
    const decoded = this.inner.end(isCutOff);
    const rest = [...pieces, ...decoded.rest];
    return { ...decoded, rest, ...(isDraft && decoded.calls.length === 0 && { verdict: unclosed }) };
  }

  private hold(held: HeldText, chunk: TextChunk): readonly ReplyPiece[] {
    addJoined(held.chunks, chunk);
    if (chunk.type !== 'text') return [];
    if (chunk.mark === 'may open') held.depth += 1;
    else if (chunk.mark === 'may close') held.depth -= 1;
    else held.decoder.push(chunk);
    if (held.depth > 0) return [];
    this.held = undefined;
    return this.release(held, held.decoder.end().calls.length > 0);
  }

  private release({ chunks }: HeldText, isDraft: boolean): readonly ReplyPiece[] {
    const released = isDraft ? [...chunks.flatMap(asReasoning), { type: 'reasoning_end' as const }] : chunks;
    this.followsThought = isDraft;
    return released.flatMap((chunk) => this.inner.push(chunk));
  }

  /** White space around a thought belongs to neither. */
  private withoutSpaceAfterThought(chunk: TextChunk): TextChunk {
    if (!this.followsThought || chunk.type !== 'text') return chunk;
    const text = chunk.text.trimStart();
    this.followsThought = text === '';
    return { ...chunk, text };
  }
}

type TextChunk = Extract<ReplyChunk, { type: 'text' | 'reasoning' | 'reasoning_end' }>;

interface HeldText {
  /** All chunks from the mark on, as they came; neighbours of the same type are one. */
  readonly chunks: TextChunk[];
  /** Opening marks without a closing one. */
  depth: number;
  /** Finds out whether there is a call in the text. */
  readonly decoder: ReplyDecoder;
}

const unclosed: ReplyVerdict = {
  decision: 'malformed',
  reason:
    'You opened a thought, wrote a tool call in it and did not close it, so nothing was called. Call tools outside of your thoughts; a mark of thoughts that you only speak of belongs into `code`.',
};

const belongsToText = (chunk: ReplyChunk): chunk is TextChunk =>
  chunk.type === 'text' || chunk.type === 'reasoning' || chunk.type === 'reasoning_end';

function addJoined(chunks: TextChunk[], chunk: TextChunk): void {
  const last = chunks.at(-1);
  if (chunk.type === 'text' && last?.type === 'text' && !last.mark && !chunk.mark)
    chunks[chunks.length - 1] = { ...last, text: last.text + chunk.text };
  else chunks.push(chunk);
}

function asReasoning(chunk: TextChunk): TextChunk[] {
  if (chunk.type !== 'text') return [chunk];
  const text = chunk.mark ? '' : chunk.text.trim();
  return text === '' ? [] : [{ type: 'reasoning', text }];
}
