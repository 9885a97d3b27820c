import type { DecodedCall, DecodedReply, ReplyChunk, ReplyDecoder, ReplyPiece } from './dialect';
import { ReplyDraft } from './reply-draft';
import { type Reading, TextSource } from './text-source';

/** Reads the text of a reply. Reasoning does not pass through it. */
export type Grammar = (source: TextSource, reply: ReplyDraft) => Reading;

/** The decoder of the dialects that write calls as text. It stops after `maxCalls`; 0 means no limit. */
export class GrammarDecoder implements ReplyDecoder {
  private readonly source = new TextSource();
  private readonly reply: ReplyDraft;
  private readonly reading: Reading;

  constructor(grammar: Grammar, { maxCalls = 0 } = {}) {
    this.reply = new ReplyDraft(maxCalls > 0 ? maxCalls : Infinity);
    this.reading = grammar(this.source, this.reply);
    this.reading.next();
  }

  get content(): DecodedReply['content'] {
    return this.reply.content.blocks;
  }

  get calls(): readonly DecodedCall[] {
    return this.reply.calls;
  }

  get isFull(): boolean {
    return this.reply.isFull;
  }

  get isInCall(): boolean {
    return this.reply.isInCall;
  }

  push(chunk: ReplyChunk): readonly ReplyPiece[] {
    switch (chunk.type) {
      case 'text':
        if (this.source.feed(chunk.text)) this.reading.next(true);
        break;
      case 'reasoning':
        this.reply.reasoning(chunk.text);
        break;
      case 'reasoning_end':
        this.reply.content.seal(chunk);
        break;
      case 'call_start':
      case 'call_arguments':
      case 'call_end':
        break; // a request without native tools has no native calls
    }
    return this.reply.takePieces();
  }

  end(): DecodedReply {
    this.reading.next(false);
    const { content, calls, verdict } = this.reply;
    return { content: content.blocks, calls, rest: this.reply.takePieces(), ...(verdict && { verdict }) };
  }
}
