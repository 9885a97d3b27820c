import { TextBuilder } from '../text-builder';
import { type Reading, type TextSource, notSpace } from '../text-source';
import { WordTrie } from '../word-trie';

const opening = '<![CDATA[';
const closing = ']]>';
const sectionStart = new WordTrie([opening]);
const sectionEnd = new WordTrie([closing]);

/** Reads up to and including the end of a value, and passes on its text; undefined if the stream ends first. */
export type ReadToEnd<End> = (keep: (text: string) => void) => Reading<End | undefined>;

export interface RawValue<End> {
  readonly text: string;
  /** The end of the value; undefined if the stream ended first. */
  readonly end: End | undefined;
  readonly problem?: string;
}

/**
 * A value between two tags is taken as it is: no entity is decoded, and one line break at either end is dropped. A value
 * that begins with a CDATA section consists of such sections, so that any string can be sent.
 */
export function* readRawValue<End>(source: TextSource, readToEnd: ReadToEnd<End>): Reading<RawValue<End>> {
  const lineBreak = yield* readLineBreak(source);
  const isSections = yield* source.comes(sectionStart);
  const sections = isSections ? yield* readSections(source) : '';
  const raw = new TextBuilder();
  const end = yield* readToEnd(raw.add);

  if (!isSections) return { text: withoutLineBreaks(lineBreak + raw.toString()), end };
  return { text: sections, end, ...(raw.toString() !== '' && { problem: strayText }) };
}

const strayText =
  'has text outside of its CDATA sections. "]]>" within a value is written as "]]]]><![CDATA[>".' as const;

/** Writes a value as it is, or as CDATA if it could be taken for markup. */
export function writeRawValue(value: string, isMarkup: (value: string) => boolean): string {
  const raw = value.includes('\n') ? `\n${value}\n` : value;
  const isSafe = !isMarkup(value) && !value.startsWith(opening) && withoutLineBreaks(raw) === value;
  return isSafe ? raw : `${opening}${value.replaceAll(closing, ']]]]><![CDATA[>')}${closing}`;
}

function withoutLineBreaks(text: string): string {
  const from = text.startsWith('\n') ? 1 : text.startsWith('\r\n') ? 2 : 0;
  const rest = text.slice(from);
  return rest.slice(0, rest.length - (rest.endsWith('\r\n') ? 2 : rest.endsWith('\n') ? 1 : 0));
}

function* readLineBreak(source: TextSource): Reading<string> {
  const carriageReturn = (yield* source.skip('\r')) ? '\r' : '';
  return (yield* source.skip('\n')) ? `${carriageReturn}\n` : carriageReturn;
}

/** White space may separate sections and follow the last one. */
function* readSections(source: TextSource): Reading<string> {
  const text = new TextBuilder();
  while (yield* source.comes(sectionStart)) {
    source.take(opening.length);
    if (yield* source.passUntil(sectionEnd, text.add)) source.take(closing.length);
    yield* source.readUntil(notSpace);
  }
  return text.toString();
}
