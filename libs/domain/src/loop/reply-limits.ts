import { characterStart, textLimits } from '@rondo/contract';
import type { ReplyChunk } from '../dialects/dialect';

/**
 * How much of a reply is heard. A model that says more, or calls more tools, is cut off there: whatever it says is stored,
 * shown and sent on several times.
 */
export class ReplyLimits {
  isFull = false;
  private left: number = textLimits.reply;

  /** The chunk, as far as there is room for it. */
  admit(chunk: ReplyChunk): ReplyChunk | undefined {
    if ('index' in chunk && chunk.index >= textLimits.callsInReply) return this.refuse();
    if (chunk.type === 'call_start') return this.take(chunk.name.length, { ...chunk, name: nameOf(chunk.name) });
    if (chunk.type === 'reasoning_end') return this.take(lengthOf(chunk), chunk);
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

/** No tool is called so. What is left of the name is enough to tell the model that. */
const nameOf = (name: string): string => name.slice(0, textLimits.toolName);

const lengthOf = ({ signature = '', redacted = '' }: { signature?: string; redacted?: string }): number =>
  signature.length + redacted.length;
