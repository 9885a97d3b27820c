import { listHunks, lineDiff } from './line-diff';

const signs = { same: ' ', removed: '-', added: '+' };
const printed = (before: string, after: string) => lineDiff(before, after).map(({ kind, text }) => signs[kind] + text);
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `line ${from + index}`);

describe('the difference of two texts', () => {
  it.each([
    ['a\nb\nc\n', 'a\nx\nc\n', [' a', '-b', '+x', ' c']],
    ['a\nb\n', 'b\n', ['-a', ' b']],
    ['', 'a\nb', ['+a', '+b']],
    ['a', '', ['-a']],
    ['same\n', 'same\n', [' same']],
    ['a\na\n', 'a\n', [' a', '-a']],
    ['1\n2\n3\n4', '2\n3\n5\n4', ['-1', ' 2', ' 3', '+5', ' 4']],
  ])('from %j to %j', (before, after, lines) => {
    expect(printed(before, after)).toEqual(lines);
  });

  it('leads from each text to the other, also where nearly nothing is shared', () => {
    const [before, after] = [numbers(0, 3_000), numbers(2_990, 6_000)];
    const lines = lineDiff(before.join('\n'), after.join('\n'));

    expect(lines.filter(({ kind }) => kind !== 'added').map(({ text }) => text)).toEqual(before);
    expect(lines.filter(({ kind }) => kind !== 'removed').map(({ text }) => text)).toEqual(after);
  });

  it('is shown with three lines around each change', () => {
    const before = numbers(0, 100).join('\n');
    const hunks = listHunks(lineDiff(before, before.replace('line 10\n', 'ten\n').replace('line 60\n', '')));

    expect(hunks.map(({ skipped, lines }) => [skipped, lines.length])).toEqual([
      [7, 8],
      [43, 7],
    ]);
    expect(listHunks(lineDiff('a', 'a'))).toEqual([]);
  });
});
