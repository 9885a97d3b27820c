import { CodeContext } from './code-context';
import { WordTrie } from './word-trie';

/** The marks between which models write their reasoning where the protocol has no field for it, or the server does not use it. */
const closings = new Map([
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|channel|>analysis<|message|>', '<|end|>'],
]);

const anyMark = new WordTrie([...closings].flat());
const closingMarks = new Map([...closings.values()].map((mark) => [mark, new WordTrie([mark])]));

export type ThoughtPiece =
  | { readonly type: 'reasoning'; readonly text: string }
  /** `mark`: the text is a mark that is read as text for where it stands, though it may have been meant as a mark. */
  | { readonly type: 'text'; readonly text: string; readonly mark?: 'may open' | 'may close' }
  | { readonly type: 'thought_end' }
  /** All the text of the reply before it was a thought: its opening mark was in the prompt, or was left out. */
  | { readonly type: 'unopened_thought' };

/**
 * Separates the thoughts in the text of a reply from the rest of it. A mark opens a thought where it begins a line, or
 * follows a sentence without being a word of the next one; in code and within a sentence it is text (see DraftDecoder for
 * calls behind such a mark). A thought that is not closed goes on to the end of the reply. White space around a thought belongs to neither.
 *
 * Pieces are generated one by one, so that `isInCall` is asked when all text before a mark has been decoded: in the
 * arguments of a call a mark is data. Whatever the split of the reply into chunks, the joined pieces are the same.
 */
export class ThoughtReader {
  /** Text that may become a mark, or is white space that may surround a thought. */
  private unread = '';
  private space = '';
  /** The mark that closes the current thought. */
  private closing: string | undefined;
  private edge: 'start' | 'after mark' | undefined = 'start';
  /** Opening marks that were read as text: as many closing marks are text, too. */
  private mentions = 0;
  private readonly prose = new Prose();
  /** What comes next may begin with a thought, wherever it stands. */
  private isResumed = false;
  /** The current or the last thought interrupts a text that was cut off, and so perhaps before a space that belongs to it. */
  private isInterruption = false;
  /** The mark that closed a thought without an opening one: a thought of the same model is closed by it again. */
  private unopened: string | undefined;

  constructor(private readonly isInCall: () => boolean = () => false) {}

  /** What the model has written and was not passed on yet; empty within a thought. */
  get held(): string {
    return this.closing === undefined ? this.space + this.unread : '';
  }

  *read(text: string): Generator<ThoughtPiece, void> {
    this.unread += text;
    yield* this.readMarks(false);
  }

  /**
   * The model is asked to go on where its text was cut off, without its thoughts. It may think again before it does, also in the
   * arguments of a call. If its opening mark is in the prompt, it is so again.
   */
  *resume(): Generator<ThoughtPiece, void> {
    yield* this.readMarks(true);
    if (this.closing !== undefined) yield* this.closeThought();
    this.isResumed = true;
    if (this.unopened !== undefined) this.beginThought(this.unopened);
  }

  *end(): Generator<ThoughtPiece, void> {
    yield* this.readMarks(true);
    const { space } = this;
    this.space = '';
    if (this.closing !== undefined) yield { type: 'thought_end' };
    else if (space !== '') yield { type: 'text', text: space };
  }

  private *readMarks(isAll: boolean): Generator<ThoughtPiece, void> {
    for (;;) {
      const { before, mark } = this.nextMark(isAll);
      yield* this.pass(before);
      this.unread = this.unread.slice(before.length);
      const after = mark && this.unread.charAt(mark.length);
      if (!mark || (after === '' && !isAll && this.needsNext(mark))) return;
      this.unread = this.unread.slice(mark.length);
      if (this.closing === undefined) yield* this.readMark(mark, after ?? '');
      else if (this.isQuotedInThought(before, after ?? '')) yield* this.pass(mark);
      else yield* this.closeThought();
    }
  }

  /** The text before the next mark, and the mark once it is complete. */
  private nextMark(isAll: boolean): { before: string; mark?: string } {
    const { unread } = this;
    const words = (this.closing !== undefined && closingMarks.get(this.closing)) || anyMark;
    for (let at = words.find(unread, 0); at >= 0; at = words.find(unread, at + 1)) {
      const mark = words.match(unread, at, isAll);
      if (mark === null) return { before: unread.slice(0, at) };
      if (mark !== undefined) return { before: unread.slice(0, at), mark };
    }
    return { before: unread };
  }

  /** Whether the meaning of the mark depends on the character after it. */
  private needsNext(mark: string): boolean {
    if (this.closing !== undefined) return this.lastOfThought === '`';
    return !this.isInCall() && (!closings.has(mark) || !this.prose.isBeginningOfLine);
  }

  private lastOfThought = '';

  private isQuotedInThought(before: string, after: string): boolean {
    return (before.at(-1) ?? this.lastOfThought) === '`' && after === '`';
  }

  private *readMark(mark: string, after: string): Generator<ThoughtPiece, void> {
    const closing = closings.get(mark);
    if (closing !== undefined && this.isResumed) {
      this.beginThought(closing);
      return;
    }
    if (this.isInCall()) {
      yield* this.pass(mark);
      return;
    }
    const isSpoken =
      closing === undefined ? this.closesMention() || !this.prose.mayClose(after) : !this.prose.mayOpen(after);
    if (isSpoken) {
      if (closing !== undefined) this.mentions += 1;
      const isQuoted = this.prose.isQuoted(after);
      yield* this.pass(mark, isQuoted ? undefined : closing === undefined ? 'may close' : 'may open');
      return;
    }
    this.beginThought(closing);
    if (closing !== undefined) return;
    this.unopened = mark;
    yield { type: 'unopened_thought' };
  }

  /** Without a mark that closes it, it has ended already. */
  private beginThought(closing: string | undefined): void {
    this.space = '';
    this.edge = 'after mark';
    this.isInterruption = this.isResumed;
    this.closing = closing;
    this.lastOfThought = '';
    this.prose.restart();
  }

  private closesMention(): boolean {
    if (this.mentions === 0) return false;
    this.mentions -= 1;
    return true;
  }

  private *closeThought(): Generator<ThoughtPiece, void> {
    this.closing = undefined;
    this.space = '';
    this.edge = 'after mark';
    yield { type: 'thought_end' };
  }

  private *pass(text: string, mark?: 'may open' | 'may close'): Generator<ThoughtPiece, void> {
    if (text === '') return;
    const isThought = this.closing !== undefined;
    if (isThought) this.lastOfThought = text.charAt(text.length - 1);
    else this.prose.add(text);
    this.isResumed &&= text.trim() === '';
    const whole = this.space + text;
    const around = this.isInterruption && !isThought ? /^[\r\n]*/ : /^\s*/;
    const from = this.edge === 'after mark' ? whole.length - whole.replace(around, '').length : 0;
    const to = isThought || this.edge === 'start' ? endOfWords(whole, isThought) : whole.length;
    this.space = whole.slice(Math.max(from, to));
    if (to <= from) return;
    this.edge = undefined;
    const passed = whole.slice(from, to);
    if (isThought) yield { type: 'reasoning', text: passed };
    else yield { type: 'text', text: passed, ...(mark && { mark }) };
  }
}

/** Where the white space begins that may precede a mark: at the end of a thought, or in a text of nothing else. */
function endOfWords(text: string, isThought: boolean): number {
  const words = text.trimEnd().length;
  return isThought || words === 0 ? words : text.length;
}

const quotes = new Set(['"', "'", '“', '‘', '«', '(', '`']);
const afterMention = new Set([' ', '\t', '"', "'", '”', '’', '»', ')', '`', ',', '.', ';', ':', '?', '!']);

/** What stands before a mark in the text of a reply. */
class Prose extends CodeContext {
  get isBeginningOfLine(): boolean {
    this.look();
    return this.isBlank;
  }

  mayOpen(after: string): boolean {
    if (this.isInCode) return false;
    return this.isBlank || (this.isNoWord(after) && (!/\s$/.test(this.last) || /[.!?:…]\s+$/.test(this.last)));
  }

  mayClose(after: string): boolean {
    this.look();
    return !this.isInSpan && (this.isBlank || this.isNoWord(after));
  }

  /** Whether the mark stands in code or in quotes, where it is certainly only spoken of. */
  isQuoted(after: string): boolean {
    if (this.isInCode) return true;
    return quotes.has(this.last.at(-1) ?? '') && afterMention.has(after) && after.trim() !== '';
  }

  /** A mark within a sentence has white space or quotes on both of its sides. */
  private isNoWord(after: string): boolean {
    const before = this.last.at(-1) ?? '';
    if (quotes.has(before)) return false;
    return !/\s/.test(before) || !afterMention.has(after);
  }
}

/** Separates the thoughts of a whole text from the rest of it. */
export function splitThoughts(written: string): { readonly text: string; readonly reasoning: string } {
  const reader = new ThoughtReader();
  const parts = { text: '', reasoning: '' };
  for (const piece of [...reader.read(written), ...reader.end()]) {
    if (piece.type === 'unopened_thought') {
      parts.reasoning += parts.text;
      parts.text = '';
    } else if (piece.type === 'text' || piece.type === 'reasoning') parts[piece.type] += piece.text;
  }
  return parts;
}
