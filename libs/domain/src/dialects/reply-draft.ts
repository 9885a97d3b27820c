import { CallDraft } from './call-draft';
import type { DecodedCall, ReplyPiece, ReplyVerdict } from './dialect';
import { ReplyContent } from './reply-content';
import type { ToolDefinition } from '../tools/define-tool';

/** A reply as a grammar writes it down: what to show, what to keep, what to call. */
export class ReplyDraft {
  readonly content = new ReplyContent();
  readonly calls: DecodedCall[] = [];
  verdict: ReplyVerdict | undefined;
  private pieces: Writable<ReplyPiece>[] = [];

  constructor(private readonly maxCalls: number) {}

  get isFull(): boolean {
    return this.calls.length >= this.maxCalls;
  }

  /** Text for the reader. An arrow, so that a grammar can hand it on as it is. */
  readonly text = (text: string): void => {
    this.content.add('text', text);
    this.show({ type: 'text', text });
  };

  reasoning(text: string): void {
    this.content.add('reasoning', text);
    this.show({ type: 'reasoning', text });
  }

  /** Begins a call; `written` is how the model opened it. It counts once it is closed. */
  open(name: string, tool: ToolDefinition | undefined, written: string): CallDraft {
    this.content.interrupt();
    return new CallDraft(this, { name, tool, written, position: this.content.blocks.length });
  }

  show(piece: ReplyPiece): void {
    if (piece.text === '') return;
    const last = this.pieces.at(-1);
    if (last && last.type === piece.type && !isOfAnotherCall(last, piece)) last.text += piece.text;
    else this.pieces.push({ ...piece });
  }

  takePieces(): readonly ReplyPiece[] {
    const pieces = this.pieces;
    this.pieces = [];
    return pieces;
  }
}

type Writable<T> = T extends unknown ? { -readonly [Key in keyof T]: T[Key] } : never;

const isOfAnotherCall = (piece: ReplyPiece, other: ReplyPiece): boolean =>
  piece.type === 'call_arguments' && other.type === 'call_arguments' && piece.index !== other.index;
