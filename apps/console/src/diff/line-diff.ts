import { type Change, sequenceDiff } from './sequence-diff.ts';

/** The lines of two texts that are compared. */
export const lineDiff = (before: string, after: string): Change[] => sequenceDiff(listLines(before), listLines(after));

/** The end of the last line is not a line of its own. */
const listLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Some lines in a row that are shown, after a number of lines that are the same and left out. */
export interface Hunk {
  readonly skipped: number;
  readonly lines: readonly Change[];
}

/** Changes, with a few lines around them. */
export function listHunks(lines: readonly Change[], around = 3): Hunk[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, index - around), index + around + 1);
  });
  const hunks: { skipped: number; lines: Change[] }[] = [];
  let skipped = 0;
  lines.forEach((line, index) => {
    if (isNear[index] !== true) {
      skipped++;
      return;
    }
    if (skipped > 0 || hunks.length === 0) hunks.push({ skipped, lines: [] });
    hunks.at(-1)?.lines.push(line);
    skipped = 0;
  });
  return hunks;
}
