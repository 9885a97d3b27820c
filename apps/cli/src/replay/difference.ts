import { canonicalJson, isSame } from '../json-object';
import type { ComparableFact } from './comparable-fact';
import type { RecordedRequest } from './recording';

/** Where a replay and its recording part. */
export interface Difference {
  readonly iteration: number;
  /** What differs, as in `message 5 (tool)`. */
  readonly where: string;
  readonly problem: string;
  /** Lines that begin with `-` (recorded) or `+` (now). */
  readonly diff: readonly string[];
}

export const toSentence = ({ iteration, where, problem }: Difference): string =>
  `iteration ${iteration}, ${where}: ${problem}`;

/** Leaves the loop at the place where the paths part. */
export class DifferenceError extends Error {
  override readonly name = 'DifferenceError';

  constructor(readonly difference: Difference) {
    super(toSentence(difference));
  }
}

/** The first part of a request that is not as recorded. */
export function requestDifference(
  recorded: RecordedRequest,
  now: RecordedRequest,
  iteration: number,
): Difference | undefined {
  const differs = (where: string, [before, after]: readonly [unknown, unknown], problem = promptDiffers) =>
    isSame(before, after)
      ? undefined
      : { iteration, where, problem, diff: shortDiff(toText(before, after), toText(after, before)) };
  return (
    differs('model', [recorded.model, now.model], 'another model is asked') ??
    differs('system prompt', [recorded.system, now.system]) ??
    differs('tools', [recorded.tools, now.tools]) ??
    differs('settings', [recorded.settings, now.settings], 'the settings of the model call differ') ??
    messageDifference(recorded, now, differs)
  );
}

const promptDiffers = 'the prompt differs';

type Differs = (where: string, pair: readonly [unknown, unknown], problem?: string) => Difference | undefined;

function messageDifference(recorded: RecordedRequest, now: RecordedRequest, differs: Differs): Difference | undefined {
  const count = Math.max(recorded.messages.length, now.messages.length);
  for (let index = 0; index < count; index += 1) {
    const [before, after] = [recorded.messages[index], now.messages[index]];
    const problem =
      before === undefined ? 'the prompt has one more' : after === undefined ? 'the prompt lacks it' : promptDiffers;
    const found = differs(`message ${index + 1} (${toRole(before ?? after)})`, [before, after], problem);
    if (found) return found;
  }
  return undefined;
}

const toRole = (message: unknown): string =>
  typeof message === 'object' && message !== null && 'role' in message ? String(message.role) : 'no role';

/** A fact that the engine would write now, beside the recorded one. */
export function factDifference(
  recorded: (ComparableFact & { readonly seq: number }) | undefined,
  now: ComparableFact,
): Difference {
  const { type, iteration } = now;
  if (!recorded) return { iteration, where: type, problem: 'the recording has ended, the engine goes on', diff: [] };
  const where = `fact ${recorded.seq} (${recorded.type})`;
  const problem = recorded.type === type ? 'the engine writes it differently' : `the engine writes ${type} instead`;
  return { iteration, where, problem, diff: shortDiff(factText(recorded), factText(now)) };
}

const factText = ({ type, data }: ComparableFact): string => `${type} ${JSON.stringify(sortKeys(data), null, 1)}`;

const sortKeys = (value: unknown): unknown => JSON.parse(canonicalJson(value));

/** The words of a message if those differ, else all of it. */
function toText(value: unknown, other: unknown): string {
  const [words, others] = [findWords(value), findWords(other)];
  if (words !== undefined && words !== others) return words;
  return value === undefined ? '' : JSON.stringify(value, null, 1);
}

function findWords(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const parts = 'content' in value ? value.content : 'results' in value ? value.results : undefined;
  if (!Array.isArray(parts)) return undefined;
  return parts.map((part: unknown) => wordsOfPart(part)).join('\n');
}

const wordsOfPart = (part: unknown): string =>
  typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : JSON.stringify(part);

const shownLines = 4;
const shownCharacters = 160;
/** Shown of a long line before the first character that differs. */
const lead = 40;

/** The lines that differ, without what both begin and end with; of a long line the part around its first difference. */
export function shortDiff(before: string, after: string): string[] {
  const [old, now] = [listLines(before), listLines(after)];
  const start = commonLength(old, now);
  const tail = commonLength(old.slice(start).reverse(), now.slice(start).reverse());
  const removed = old.slice(start, old.length - tail);
  const added = now.slice(start, now.length - tail);
  return [...showLines('-', removed, added), ...showLines('+', added, removed)];
}

const listLines = (text: string): string[] => (text === '' ? [] : text.split('\n'));

function commonLength<T>(one: ArrayLike<T>, other: ArrayLike<T>): number {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length += 1;
  return length;
}

function showLines(sign: string, lines: readonly string[], others: readonly string[]): string[] {
  const left = lines.length - shownLines;
  const kept = lines
    .slice(0, shownLines)
    .map((line, index) => (line === '' ? sign : `${sign} ${toWindow(line, others[index] ?? '')}`));
  return left > 0 ? [...kept, `${sign} … ${left} more lines`] : kept;
}

function toWindow(line: string, other: string): string {
  if (line.length <= shownCharacters) return line;
  const from = Math.max(0, Math.min(commonLength(line, other) - lead, line.length - shownCharacters));
  const to = from + shownCharacters;
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`;
}
