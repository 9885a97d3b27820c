import fc from 'fast-check';
import { memoizeGrowingList, addedTo } from './memoize-growing-list';

const stones = Array.from({ length: 6 }, (_, weight) => ({ weight }));
const anyList = fc.array(fc.constantFrom(...stones), { maxLength: 6 });

describe('asItGrows', () => {
  it('says the same of any list, whatever it was asked before', () => {
    const weights = memoizeGrowingList<{ weight: number }, string>((made = '', more) =>
      more.reduce((text, { weight }) => text + String(weight), made),
    );

    fc.assert(fc.property(anyList, (list) => weights(list) === list.map(({ weight }) => weight).join('')));
  });

  it('is shown what is new, and nothing again', () => {
    const shown: number[] = [];
    const count = memoizeGrowingList<object, number>((made = 0, more) => {
      shown.push(more.length);
      return made + more.length;
    });

    for (let length = 1; length <= stones.length; length++) expect(count(stones.slice(0, length))).toBe(length);
    expect(shown).toEqual([1, 1, 1, 1, 1, 1]);
  });
});

it('tells what goes on from what does not', () => {
  fc.assert(
    fc.property(anyList, anyList, (beginning, list) => {
      const more = addedTo(beginning, list);
      const begins = beginning.every((item, at) => item === list[at]) && list.length >= beginning.length;
      expect(more).toEqual(begins ? list.slice(beginning.length) : undefined);
    }),
  );
});
