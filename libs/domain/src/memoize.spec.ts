import fc from 'fast-check';
import { listAdded, toHiddenFields, memoizeGrowingList } from './memoize';

describe('toHiddenFields', () => {
  it('returns the last value of an object, and none for an equal one', () => {
    const colours = toHiddenFields<object, string>();
    const sizes = toHiddenFields<object, number>();
    const stone = { weight: 3 };

    colours.set(stone, 'grey');
    colours.set(stone, 'white');
    sizes.set(stone, 2);

    expect(colours.get(stone)).toBe('white');
    expect(sizes.get(stone)).toBe(2);
    expect(colours.get({ ...stone })).toBeUndefined();
    expect(colours.get(structuredClone(stone))).toBeUndefined();
  });

  it('does not change the object', () => {
    const stone = { weight: 3 };

    toHiddenFields<object, string>().set(stone, 'grey');

    expect(Reflect.ownKeys(stone)).toEqual(['weight']);
    expect(JSON.stringify(stone)).toBe('{"weight":3}');
  });
});

const stones = Array.from({ length: 6 }, (_, weight) => ({ weight }));
const anyList = fc.array(fc.constantFrom(...stones), { maxLength: 6 });

describe('memoizeGrowingList', () => {
  it('returns the same result for any list, whatever was asked before', () => {
    const weights = memoizeGrowingList<{ weight: number }, string>((text = '', added) =>
      added.reduce((all, { weight }) => all + String(weight), text),
    );

    fc.assert(fc.property(anyList, (list) => weights(list) === list.map(({ weight }) => weight).join('')));
  });

  it('processes only what is new', () => {
    const shown: number[] = [];
    const count = memoizeGrowingList<object, number>((known = 0, added) => {
      shown.push(added.length);
      return known + added.length;
    });

    for (let length = 1; length <= stones.length; length++) expect(count(stones.slice(0, length))).toBe(length);
    expect(shown).toEqual([1, 1, 1, 1, 1, 1]);
  });
});

describe('addedTo', () => {
  it('returns undefined for a list that begins differently', () => {
    fc.assert(
      fc.property(anyList, anyList, (beginning, list) => {
        const added = listAdded(beginning, list);
        const begins = beginning.every((item, index) => item === list[index]) && list.length >= beginning.length;
        expect(added).toEqual(begins ? list.slice(beginning.length) : undefined);
      }),
    );
  });
});
