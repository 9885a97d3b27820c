import { type Opaque, readJson } from '@rondo/contract';
import { ObjectEnd, type ReplyChunk } from '@rondo/domain';
import { ProviderError } from '../provider-error';
import type { ToolCallDelta } from './openai-chunk';

/** The limit of text that is held back, which does not count as output before. */
const maxHeld = 1_000_000;

/** A call and what is known of it. */
class OpenCall {
  id: string | undefined;
  name = '';
  /** Arguments that are not passed on yet: those before the name, a first `{}`, and those that begin as a text of JSON. */
  held = '';
  written = '';
  isWhole = false;
  /** It cannot be told what the model wrote. */
  isMixed = false;
  /** Without arguments it is mixed, too: it may be those of another call that belong to it. */
  needsArguments = false;
  /** It began with the name of the call before it and nothing else: that may be a repetition of the name. */
  isTentative = false;
  private end = new ObjectEnd();

  /** `number`: that of its first piece. */
  constructor(
    readonly index: number,
    readonly number: number | undefined,
  ) {}

  get isEmpty(): boolean {
    return this.written.trim() === '';
  }

  hasWritten(text: string): boolean {
    return text.trim() === this.written.trim();
  }

  note(text: string): void {
    this.written += text;
    if (this.isQuoted) this.isWhole = closingQuote.test(this.written.slice(-64)) && this.written.trim().length > 1;
    else if (!this.isWhole) this.isWhole = this.end.in(text) !== undefined;
  }

  /** The arguments are a text of JSON. */
  get isQuoted(): boolean {
    return this.written.trimStart().startsWith('"');
  }

  /** What came was a placeholder. */
  restart(): void {
    this.held = '';
    this.written = '';
    this.isWhole = false;
    this.end = new ObjectEnd();
  }
}

/** A quote that is not escaped. */
const closingQuote = /(?:^|[^\\])(?:\\\\)*"\s*$/;

/** A piece of a call, as it came. */
interface Piece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly text: string;
}

/**
 * Assigns the pieces of a reply to its calls. OpenAI numbers calls, and gives each an id and a name once. Compatible servers
 * omit, repeat or change ids, send whole calls at once, number each from 0 again, number the pieces, or number nothing. A piece
 * goes to the call that it belongs to; where that cannot be told, the call is malformed, and the model is told.
 */
export class CallAssembly {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<number, OpenCall>();
  private latest: OpenCall | undefined;
  private hasEnded = false;

  /** Whether the reply has calls. */
  get any(): boolean {
    return this.calls.length > 0;
  }

  /** Whether it has calls, and the arguments of each are a whole object: nothing can be missing from them. */
  get isWhole(): boolean {
    return this.any && this.calls.every(({ isWhole, isTentative, name }) => isTentative || (isWhole && name !== ''));
  }

  /** `opaque`: what its provider wants back with this call. */
  add(delta: ToolCallDelta, chunks: ReplyChunk[], opaque?: Opaque): void {
    const given = delta.function;
    const piece = {
      index: delta.index ?? undefined,
      id: delta.id === '' ? undefined : (delta.id ?? undefined),
      name: given?.name ?? '',
      text: toText(given?.arguments),
    };
    const call = this.toCall(piece);
    call.id ??= piece.id;
    const isNamed = call.name === '' && piece.name !== '';
    if (isNamed) call.name = piece.name;
    if (call.isTentative ? piece.text !== '' : isNamed) {
      call.isTentative = false;
      chunks.push({ type: 'call_start', index: call.index, name: call.name, ...(opaque && { opaque }) });
    } else if (opaque) chunks.push({ type: 'call_end', index: call.index, opaque });
    this.write(call, piece.text, chunks);
  }

  /** Passes on what is held back. No piece follows. */
  end(chunks: ReplyChunk[]): void {
    if (this.hasEnded) return;
    this.hasEnded = this.any;
    for (const call of this.calls) {
      if ((call.name === '' || call.isTentative) && call.isEmpty) continue;
      if (call.name === '') chunks.push({ type: 'call_start', index: call.index, name: 'unnamed' });
      const problem = this.problemWith(call);
      if (problem !== undefined) chunks.push({ type: 'call_end', index: call.index, problem }); // first: arguments complete it
      if (call.held !== '') chunks.push({ type: 'call_arguments', index: call.index, text: unquote(call.held) });
    }
  }

  private problemWith(call: OpenCall): string | undefined {
    if (call.name === '') return 'The call has arguments and no name.';
    const isBare = call.isEmpty || emptyObject.test(call.held);
    const hasStray = this.calls.some(({ name, isEmpty }) => name === '' && !isEmpty);
    const isLeft = call.isEmpty && (call.needsArguments || this.calls.some((one) => mayBeSame(one, call)));
    if (isBare && hasStray) return mixed;
    return call.isMixed || isLeft ? mixed : undefined;
  }

  private write(call: OpenCall, text: string, chunks: ReplyChunk[]): void {
    if (text !== '' && call.isWhole && call.hasWritten(text)) return; // the whole once more, at its end
    if (text.trim() !== '' && call.isWhole && emptyObject.test(call.held)) call.restart();
    call.note(text);
    const all = call.held + text;
    call.held = '';
    if (all === '') return;
    if (call.name === '' || emptyObject.test(all) || call.isQuoted) {
      call.held = all;
      if (all.length > maxHeld) throw new ProviderError('api_error', 'The provider sent a call that never begins.');
    } else chunks.push({ type: 'call_arguments', index: call.index, text: all });
  }

  private toCall(piece: Piece): OpenCall {
    const call = this.candidate(piece);
    if (call && this.continues(call, piece)) {
      if (piece.index !== undefined && !this.byIndex.has(piece.index)) this.byIndex.set(piece.index, call);
      return call;
    }
    const next = new OpenCall(this.calls.length, piece.index);
    if (call && this.wasTakenFor(call, piece)) {
      call.isMixed = true;
      next.needsArguments = true;
    }
    next.isTentative = call?.isWhole === true && call.name === piece.name && piece.id === undefined;
    this.calls.push(next);
    this.byIndex.set(piece.index ?? next.index, next);
    this.latest = next;
    return next;
  }

  /** Pieces with the number of a new call went to another one, because nothing said that they are not its own. */
  private wasTakenFor({ number }: OpenCall, { index }: Piece): boolean {
    return index !== undefined && number !== index && this.byIndex.get(index)?.number === number;
  }

  /** The call that a piece may belong to. An id tells more than a number that all calls have. */
  private candidate({ index, id, name }: Piece): OpenCall | undefined {
    const numbered = index === undefined ? undefined : this.byIndex.get(index);
    const same = id === undefined ? [] : this.calls.filter((call) => call.id === id);
    const identified = same.length === 1 && numbered?.id !== id ? same[0] : undefined;
    if (index === undefined || numbered) return identified ?? numbered ?? this.latest;
    if (name !== '') return undefined;
    return id === undefined ? this.unfinished : identified; // each piece has a number of its own
  }

  private get unfinished(): OpenCall | undefined {
    return this.latest?.isWhole && !emptyObject.test(this.latest.held) ? undefined : this.latest;
  }

  /** Ids change within a call; names do not. What follows a whole object is no part of its call, unless it brings nothing. */
  private continues(call: OpenCall, { index, id, name, text }: Piece): boolean {
    const isOther = id !== undefined && call.id !== undefined && id !== call.id;
    const isClosed = call.isWhole && !emptyObject.test(call.held) && !call.hasWritten(text);
    if (name === '') return !(isOther && isClosed && text.trim() !== '');
    if (call.name === '') return !isOther;
    if (call.isWhole && !(id !== undefined && !isOther && emptyObject.test(call.held))) {
      const repeats =
        id !== undefined ? text.trim() === '' || call.hasWritten(text) : index !== undefined && call.hasWritten(text);
      call.isMixed ||= !isOther && name === call.name && !repeats && emptyObject.test(call.held);
      return !isOther && name === call.name && repeats;
    }
    if (name !== call.name) {
      call.needsArguments ||= !isOther && id !== undefined;
      return false;
    }
    if (isOther && call.isEmpty) call.needsArguments = true;
    return !isOther || (!call.isEmpty && text !== '');
  }
}

const mixed = 'It cannot be told which arguments belong to this call. Make it again.';

/** Whether another call may be one with it, because nothing but an id would tell them apart. */
const mayBeSame = (one: OpenCall, call: OpenCall): boolean =>
  one !== call && one.name === call.name && (one.id ?? call.id) === (call.id ?? one.id);

/** Nothing but an object without fields, perhaps not closed yet. Some servers begin with one and send the arguments after it. */
const emptyObject = /^\s*\{\s*\}?\s*$/;

const toText = (written: unknown): string => {
  if (typeof written === 'string') return written;
  return written === undefined || written === null ? '' : JSON.stringify(written);
};

/** Some servers encode the arguments twice: as a text of JSON whose value is the JSON. */
function unquote(text: string): string {
  const value = readJson(text);
  return typeof value === 'string' && value.trim().startsWith('{') ? value : text;
}
