const anyId = /\b(run|thr|msg|call|evt)_[0-9A-HJKMNP-TV-Z]{26}\d*\b/g;

/** What the API says of a message, as far as it is compared. */
export interface ComparedMessage {
  readonly type: string;
  readonly content: readonly { readonly type: string }[];
}

/**
 * The words, calls and answers of a conversation without what may differ between two runs of one script: ids, names, and the
 * order of parallel results. A reply that is cut off after its first calls keeps them, and the next one says its words again
 * and asks for the rest; so words count once, and calls and answers as often as there are.
 */
export function comparable(messages: readonly ComparedMessage[], tag: string): string[] {
  const parts = messages.flatMap(({ type, content }) => content.map((part) => ({ type, part })));
  const lines = parts.map(({ type, part }) => ({
    isText: part.type === 'text',
    line: `${type} ${JSON.stringify(part).replaceAll(tag, 'TAG').replaceAll(anyId, '$1')}`,
  }));
  return lines
    .filter(({ isText, line }, index) => !isText || lines.findIndex((other) => other.line === line) === index)
    .map(({ line }) => line)
    .toSorted();
}

/** The same without tool results, which is all that may differ after an unknown call. */
export const withoutAnswers = (lines: readonly string[]): string[] => lines.filter((line) => !line.startsWith('tool '));

/** The first part that the other conversation lacks, from shortly before the place where it differs from the nearest. */
export function findDifference(actual: readonly string[], expected: readonly string[]): string {
  const line = actual.find((one) => !expected.includes(one));
  if (line === undefined) return 'a part too few or too many';
  const nearest =
    expected.toSorted((one, other) => lengthOfCommonStart(line, other) - lengthOfCommonStart(line, one))[0] ?? '';
  const at = lengthOfCommonStart(line, nearest);
  const part = (text: string) => text.slice(Math.max(0, at - 40), at + 80);
  return `${part(line)} instead of ${part(nearest)}`;
}

function lengthOfCommonStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
