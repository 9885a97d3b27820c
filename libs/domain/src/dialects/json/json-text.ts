import type { Reading, ReadResult, TextSource } from '../text-source';
import { WordTrie } from '../word-trie';

const quoteOrEscaped = new WordTrie(['"', '\\"', '\\\\']);
const quoteOrBackslash = new WordTrie(['"', '\\']);
const bracketOrQuote = new WordTrie(['"', '{', '}', '[', ']']);
const scalarEnd = /[,}\] \t\r\n]/g;
const brackets = new WordTrie(['{', '[']);
const hexDigits = new WordTrie('0123456789abcdefABCDEF'.split(''));

/** Reads a JSON value as text, up to its last character; false if the stream ends first. */
export function* readJsonText(source: TextSource, take: ReadResult): Reading<boolean> {
  if (yield* source.skip('"')) {
    take('"');
    return yield* readStringText(source, take);
  }
  if (!(yield* source.comes(brackets))) return yield* readScalarText(source, take);

  let depth = 0;
  do {
    if (!(yield* source.passUntil(bracketOrQuote, take))) return false;
    const character = source.take(1);
    take(character);
    if (character === '"' && !(yield* readStringText(source, take))) return false;
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
  } while (depth > 0);
  return true;
}

/** A number or a literal: anything up to the next delimiter. */
function* readScalarText(source: TextSource, take: ReadResult): Reading<boolean> {
  take(yield* source.readUntil(scalarEnd));
  return !source.isOver;
}

/** The rest of a string after its opening quote, as it is written, with the closing quote. */
function* readStringText(source: TextSource, take: ReadResult): Reading<boolean> {
  for (;;) {
    const word = yield* source.passUntil(quoteOrEscaped, take);
    if (word === undefined) return false;
    take(source.take(word.length));
    if (word === '"') return true;
  }
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * The value of a string after its opening quote, while it streams. It is shown to people, so line breaks and unknown
 * escapes are tolerated and passed on as they are. A surrogate pair is never split.
 */
export function* readStringValue(source: TextSource, take: ReadResult): Reading<boolean> {
  let pending = '';
  const pass = (text: string) => {
    const whole = pending + text;
    const end = isHighSurrogate(whole.charCodeAt(whole.length - 1)) ? whole.length - 1 : whole.length;
    pending = whole.slice(end);
    if (end > 0) take(whole.slice(0, end).toWellFormed());
  };
  while (yield* source.passUntil(quoteOrBackslash, pass)) {
    if (source.take(1) === '"') {
      if (pending !== '') take(pending.toWellFormed());
      return true;
    }
    pass(yield* readEscape(source));
  }
  if (pending !== '') take(pending.toWellFormed());
  return false;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

function* readEscape(source: TextSource): Reading<string> {
  const character = yield* source.next();
  if (character !== 'u') return escapes[character] ?? `\\${character}`;

  let digits = '';
  while (digits.length < 4 && (yield* source.comes(hexDigits))) digits += source.take(1);
  return digits.length === 4 ? String.fromCharCode(Number.parseInt(digits, 16)) : `\\u${digits}`;
}
