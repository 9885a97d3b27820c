import { type Piece, wordDiff } from './word-diff';

const marked = (pieces: readonly Piece[]) => pieces.map(({ text, isOwn }) => (isOwn ? `[${text}]` : text)).join('');
const both = (before: string, after: string) => {
  const diff = wordDiff(before, after);
  return [marked(diff.before), marked(diff.after)];
};
const joined = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join('');

describe('the words that differ between two texts', () => {
  it.each([
    ['The shed is red.', 'The shed is blue.', ['The shed is [red].', 'The shed is [blue].']],
    ['It has two windows.', 'It has a green roof.', ['It has [two windows].', 'It has [a green roof].']],
    ['Same.\nOld end.', 'Same.\nNew end.', ['Same.\n[Old] end.', 'Same.\n[New] end.']],
    ['One.\n', 'One.', ['One.[\n]', 'One.']],
    ['', 'All new.', ['', '[All new.]']],
    ['Same.', 'Same.', ['Same.', 'Same.']],
    ['自転車は赤いです', '自転車は青いです', ['自転車は[赤い]です', '自転車は[青い]です']],
  ])('from %j to %j', (before, after, expected) => {
    expect(both(before, after)).toEqual(expected);
  });

  it('keep both texts as they are, also where nearly nothing is shared and texts are long', () => {
    const text = (seed: number) =>
      Array.from({ length: 4_000 }, (_, index) => `word${(index * seed) % 997}${index % 13 === 0 ? '\n' : ' '}`).join(
        '',
      );
    const [before, after] = [text(3), text(7)];
    const diff = wordDiff(before, after);

    expect(joined(diff.before)).toBe(before);
    expect(joined(diff.after)).toBe(after);
  });
});
