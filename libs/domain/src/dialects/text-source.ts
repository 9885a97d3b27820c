import type { WordTrie } from './word-trie';

/**
 * A part of a grammar. It stops at `yield` when it has read all there is, and goes on with `true` when more has come,
 * or with `false` when the stream is over. So a grammar is written as if the whole text were there.
 */
export type Reading<Result = void> = Generator<undefined, Result, boolean>;

export type ReadResult = (text: string) => void;

/** What is not white space as XML and JSON have it. */
export const notSpace = /[^ \t\r\n]/g;

/**
 * A stream of text that a grammar reads from the front. What was read is gone, and looking ahead never goes further
 * than the longest word looked for: so any grammar is linear, however the stream is split.
 */
export class TextSource {
  private chunk = '';
  private at = 0;
  private over = false;
  /** What a grammar that stopped passes on. While nothing else comes, it need not even wake. */
  private passing: { readonly words: WordTrie<string>; readonly take: ReadResult } | undefined;
  private recorder: ReadResult | undefined;
  private recordedTo = 0;

  /** Adds to the stream; true when the grammar must go on. */
  feed(text: string): boolean {
    if (text === '') return false;
    this.chunk = this.at < this.chunk.length ? this.chunk.slice(this.at) + text : text;
    this.at = 0;
    this.recordedTo = 0;
    if (!this.passing || this.pass(this.passing.words, this.passing.take) !== undefined) return true;

    this.record();
    return false;
  }

  /** The stream is over; at most the beginning of a word is still unread. */
  get isOver(): boolean {
    return this.over;
  }

  /** Passes everything on until one of the words comes, which stays unread; undefined when the stream ends first. */
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

  /** Passes on everything that is left. */
  *passAll(take: ReadResult): Reading {
    do take(this.takeRest());
    while (yield* this.more());
  }

  /** Reads up to a character that matches `stop`, a global pattern, or to the end. */
  *readUntil(stop: RegExp): Reading<string> {
    let read = '';
    for (;;) {
      stop.lastIndex = this.at;
      const isFound = stop.test(this.chunk);
      read += this.take((isFound ? stop.lastIndex - 1 : this.chunk.length) - this.at);
      if (isFound || !(yield* this.more())) return read;
    }
  }

  /** Which of the words comes next, if any. It stays unread. */
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

  /** Reads that many characters, which are known to be there. */
  take(count: number): string {
    const text = this.chunk.slice(this.at, this.at + count);
    this.at += text.length;
    return text;
  }

  /** Reads what is there. */
  takeRest(): string {
    return this.take(this.chunk.length);
  }

  /** From here on, everything that is read goes to `take` as well. */
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

  /** Passes on what certainly stands before a word, and leaves unread what may become one. */
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
