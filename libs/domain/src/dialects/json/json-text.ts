import type { Reading, ReadResult, TextSource } from '../text-source';
import { WordTrie } from '../word-trie';

const quoteOrEscaped = new WordTrie(['"', '\\"', '\\\\']);
const quoteOrBackslash = new WordTrie(['"', '\\']);
const bracketOrQuote = new WordTrie(['"', '{', '}', '[', ']']);
const scalarEnd = /[,}\] \t\r\n]/g;
const brackets = new WordTrie(['{', '[']);
const hexDigits = new WordTrie('0123456789abcdefABCDEF'.split(''));

/** Reads a JSON value as text, up to its last character; false when the stream ends first. */
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

/** A number, a literal, or whatever else ends where the next thing begins. */
function* readScalarText(source: TextSource, take: ReadResult): Reading<boolean> {
  take(yield* source.readUntil(scalarEnd));
  return !source.isOver;
}

/** The rest of a string whose opening quote is read, as it is written, closing quote included. */
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
 * The rest of a string whose opening quote is read, as what it says, while it streams. Words are for people: a line
 * break or an escape that JSON does not know is passed on as it stands. Both halves of an emoji come together.
 */
export function* readWords(source: TextSource, take: ReadResult): Reading<boolean> {
  let half = '';
  const say = (text: string) => {
    const whole = half + text;
    const end = isFirstHalf(whole.charCodeAt(whole.length - 1)) ? whole.length - 1 : whole.length;
    half = whole.slice(end);
    if (end > 0) take(whole.slice(0, end));
  };
  while (yield* source.passUntil(quoteOrBackslash, say)) {
    if (source.take(1) === '"') {
      if (half !== '') take(half);
      return true;
    }
    say(yield* readEscape(source));
  }
  if (half !== '') take(half);
  return false;
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

function* readEscape(source: TextSource): Reading<string> {
  const character = yield* source.next();
  if (character !== 'u') return escapes[character] ?? `\\${character}`;

  let digits = '';
  while (digits.length < 4 && (yield* source.comes(hexDigits))) digits += source.take(1);
  return digits.length === 4 ? String.fromCharCode(Number.parseInt(digits, 16)) : `\\u${digits}`;
}
