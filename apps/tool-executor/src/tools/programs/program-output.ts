import { programLimits, textLimits, readJson } from '@rondo/contract';
import { z } from 'zod';
import { clipMiddle, resultCharacters } from '../clip-text';

const message = z.union([
  z.strictObject({
    calls: z
      .array(
        z.strictObject({ name: z.string().max(textLimits.toolName), arguments: z.record(z.string(), z.unknown()) }),
      )
      .min(1)
      .max(programLimits.callsAtOnce),
  }),
  z.strictObject({ end: z.unknown() }),
]);
export type ProgramMessage = z.infer<typeof message>;

/** Of one request, which may be in many pieces. */
const longestMessage = 1_000_000;

/** A program, or another process of its sandbox, has written what is no message. */
export class BrokenMessage extends Error {
  override readonly name = 'BrokenMessage';
}

/** What a program writes: in lines with its mark the pieces of messages, and all else is what it prints. */
export class ProgramOutput {
  readonly messages: ProgramMessage[] = [];
  private text = '';
  private piece = '';
  private kept = '';

  constructor(private readonly mark: string) {}

  get printed(): string {
    return clipMiddle(this.kept + this.text).text;
  }

  push(text: string): void {
    this.text += text;
    const line = `\n${this.mark}`;
    for (let at = this.text.indexOf(line); at >= 0; at = this.text.indexOf(line)) {
      const end = this.text.indexOf('\n', at + line.length);
      if (end < 0) break;
      this.keep(this.text.slice(0, at));
      this.receive(this.text.slice(at + line.length, end));
      this.text = this.text.slice(end + 1);
    }
    if (!this.text.includes(line)) {
      const open = Math.max(0, this.text.length - line.length); // a mark may have begun there
      this.keep(this.text.slice(0, open));
      this.text = this.text.slice(open);
    }
    if (this.text.length > longestMessage) throw new BrokenMessage('It wrote a line without an end.');
  }

  private keep(printed: string): void {
    this.kept += printed;
    if (this.kept.length > 4 * resultCharacters)
      this.kept = clipMiddle(this.kept, { limit: 2 * resultCharacters }).text;
  }

  private receive(piece: string): void {
    this.piece += piece.slice(1);
    if (this.piece.length > longestMessage) throw new BrokenMessage('The arguments of a call are too long.');
    if (piece.startsWith('+')) return;
    const parsed = message.safeParse(readJson(this.piece));
    this.piece = '';
    if (!parsed.success) throw new BrokenMessage('It wrote a message that is none.');
    this.messages.push(parsed.data);
  }
}
