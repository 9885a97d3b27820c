import type { WordTrie } from './word-trie';

/**
 * A part of a grammar. It yields when it has read all available text, and resumes with `true` when there is more, or with
 * `false` at the end of the stream. So a grammar is written as if it had the whole text.
 */
export type Reading<Result = void> = Generator<undefined, Result, boolean>;

export type ReadResult = (text: string) => void;

/** Anything but white space as XML and JSON define it. */
export const notSpace = /[^ \t\r\n]/g;

/**
 * A stream of text that a grammar reads. Text that was read is dropped, and lookahead is bounded by the longest word that
 * is searched, so any grammar takes linear time, however the stream is split.
 */
export class TextSource {
  private chunk = '';
  private at = 0;
  private over = false;
  /** What a paused grammar is passing on. Until a word comes, `feed` does this without resuming the grammar. */
  private passing: { readonly words: WordTrie<string>; readonly take: ReadResult } | undefined;
  private recorder: ReadResult | undefined;
  private recordedTo = 0;

  /** Adds to the stream; true if the grammar must resume. */
  feed(text: string): boolean {
    if (text === '') return false;
    this.chunk = this.at < this.chunk.length ? this.chunk.slice(this.at) + text : text;
    this.at = 0;
    this.recordedTo = 0;
    if (!this.passing || this.pass(this.passing.words, this.passing.take) !== undefined) return true;

    this.record();
    return false;
  }

  /** The stream has ended; at most the beginning of a word is still unread. */
  get isOver(): boolean {
    return this.over;
  }

  /** Passes on everything before the next of the words, which stays unread; undefined if the stream ends first. */
  *passUntil<Word extends string>(words: WordTrie<Word>, take: ReadResult): Reading<Word | undefined> {
    let word = this.pass(words, take);
    while (word === undefined && !this.over) {
      this.passing = { words, take };
      yield* this.more();
      this.passing = undefined;
      word = this.pass(words, take);
    }
    return word;
  }

  /** Passes on the rest of the stream. */
  *passAll(take: ReadResult): Reading {
    do take(this.takeRest());
    while (yield* this.more());
  }

  /** Reads up to a character that matches `stop`, a global pattern, or to the end of the stream. */
  *readUntil(stop: RegExp): Reading<string> {
    let read = '';
    for (;;) {
      stop.lastIndex = this.at;
      const isFound = stop.test(this.chunk);
      read += this.take((isFound ? stop.lastIndex - 1 : this.chunk.length) - this.at);
      if (isFound || !(yield* this.more())) return read;
    }
  }

  /** The word that comes next, if it is one of these. It stays unread. */
  *comes<Word extends string>(words: WordTrie<Word>): Reading<Word | undefined> {
    for (;;) {
      const word = words.match(this.chunk, this.at, this.over);
      if (word !== null) return word;
      yield* this.more();
    }
  }

  /** Reads the next character if it is this one. */
  *skip(character: string): Reading<boolean> {
    if (this.at >= this.chunk.length) yield* this.more();
    if (this.chunk[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  /** Reads the next character; empty when the stream is over. */
  *next(): Reading<string> {
    if (this.at >= this.chunk.length) yield* this.more();
    return this.take(1);
  }

  /** Reads that many characters, which must be available. */
  take(count: number): string {
    const text = this.chunk.slice(this.at, this.at + count);
    this.at += text.length;
    return text;
  }

  /** Reads all available text. */
  takeRest(): string {
    return this.take(this.chunk.length);
  }

  /** From here on, everything that is read is also passed to `take`. */
  startRecording(take: ReadResult): void {
    this.recorder = take;
    this.recordedTo = this.at;
  }

  stopRecording(): void {
    this.record();
    this.recorder = undefined;
  }

  private record(): void {
    if (this.at > this.recordedTo) this.recorder?.(this.chunk.slice(this.recordedTo, this.at));
    this.recordedTo = this.at;
  }

  private *more(): Reading<boolean> {
    if (this.over) return false;
    this.record();
    const more = yield;
    this.over = !more;
    return more;
  }

  /** Passes on text that is certainly before a word, and leaves text unread that may become one. */
  private pass<Word extends string>(words: WordTrie<Word>, take: ReadResult): Word | undefined {
    let word: Word | undefined | null;
    let to = words.find(this.chunk, this.at);
    while (to >= 0) {
      word = words.match(this.chunk, to, this.over);
      if (word !== undefined) break;
      to = words.find(this.chunk, to + 1);
    }
    const before = to < 0 ? this.takeRest() : this.take(to - this.at);
    if (before !== '') take(before);
    return word ?? undefined;
  }
}
