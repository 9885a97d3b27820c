import { type Opaque, characterStart, textLimits } from '@rondo/contract';
import type { ReplyChunk } from '../dialects/dialect';

/**
 * Cuts off a reply that has too much text or too many calls. Every reply is stored, shown and sent again several times,
 * so an unbounded one would exhaust memory.
 */
export class ReplyLimits {
  isFull = false;
  private left: number = textLimits.reply;

  /** The part of the chunk that is within the limits. */
  admit(chunk: ReplyChunk): ReplyChunk | undefined {
    if ('index' in chunk && chunk.index >= textLimits.callsInReply) return this.refuse();
    if (chunk.type === 'call_start')
      return this.take(chunk.name.length + lengthOf(chunk), { ...chunk, name: nameOf(chunk.name) });
    if (chunk.type === 'reasoning_end' || chunk.type === 'call_end') return this.take(lengthOf(chunk), chunk);
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
const nameOf = (name: string): string => name.slice(0, textLimits.toolName);

const lengthOf = ({ opaque }: { readonly opaque?: Opaque }): number => (opaque ? JSON.stringify(opaque).length : 0);
