import type { ToolDefinition } from '../tools/define-tool';
import { listParameters } from '../tools/tool-parameters';
import type { DecodedCall, ReplyPiece, ReplyVerdict } from './dialect';
import { ReplyContent } from './reply-content';
import { TextBuilder } from './text-builder';
import { readValue } from './typed-value';

/** The reply that a grammar builds while it reads: pieces to show, content to store, and calls. */
export class ReplyDraft {
  readonly content = new ReplyContent();
  readonly calls: DecodedCall[] = [];
  verdict: ReplyVerdict | undefined;
  /** A grammar reads what is, or may become, a call. */
  isInCall = false;
  private pieces: Writable<ReplyPiece>[] = [];

  constructor(private readonly maxCalls: number) {}

  get isFull(): boolean {
    return this.calls.length >= this.maxCalls;
  }

  /** Adds text. An arrow function, so that a grammar can pass it as a callback. */
  readonly text = (text: string): void => {
    this.content.add('text', text);
    this.show({ type: 'text', text });
  };

  reasoning(text: string): void {
    this.content.add('reasoning', text);
    this.show({ type: 'reasoning', text });
  }

  /** Starts a call; `written` is the text by which the model opened it. The call counts once it is closed. */
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

/** The call that a grammar builds while it reads. Only its first problem is reported. */
export class CallDraft {
  private readonly values = new Map<string, unknown>();
  private problem: string | undefined;
  private readonly written = new TextBuilder();

  constructor(
    private readonly reply: ReplyDraft,
    private readonly call: { name: string; tool: ToolDefinition | undefined; written: string; position: number },
  ) {
    this.written.add(call.written);
  }

  /** Adds text as the model writes it. */
  readonly append = (text: string): void => {
    this.written.add(text);
    this.reply.show({ type: 'call_arguments', index: this.reply.calls.length, name: this.call.name, text });
  };

  /** Sets a parameter from its text; the tool's schema determines its type. */
  set(parameter: string, text: string): void {
    if (this.values.has(parameter)) {
      this.fail(`The parameter "${parameter}" is given twice.`);
      return;
    }
    const known = this.call.tool && listParameters(this.call.tool).get(parameter);
    const read = readValue(text, known?.types);
    if ('value' in read) this.values.set(parameter, read.value);
    else this.fail(`The parameter "${parameter}" ${read.problem}`);
  }

  /** `reason` is a sentence that the model reads. */
  fail(reason: string): void {
    this.problem ??= reason;
  }

  close(): void {
    const { name, position } = this.call;
    this.reply.calls.push({
      index: this.reply.calls.length,
      name,
      arguments: this.problem === undefined ? Object.fromEntries(this.values) : {},
      position,
      ...(this.problem !== undefined && { malformed: { reason: this.problem, written: this.written.toString() } }),
    });
  }
}

type Writable<T> = T extends unknown ? { -readonly [Key in keyof T]: T[Key] } : never;

const isOfAnotherCall = (piece: ReplyPiece, other: ReplyPiece): boolean =>
  piece.type === 'call_arguments' && other.type === 'call_arguments' && piece.index !== other.index;
