import fc from 'fast-check';
import { anyHistory, historyOf } from '../testing/histories';
import { turnsOf } from '../context/turns';
import { segments, rangeBeforeTail, rangeBetween, turnCount } from './summary-range';

describe('head_tail', () => {
  it.each([
    { turns: 11, maxTurns: 10, head: 2, left: 5 },
    { turns: 101, maxTurns: 100, head: 1, left: 50 },
    { turns: 4, maxTurns: 100, head: 1, left: 2 },
  ])('leaves $left of $turns turns where $maxTurns are allowed and $head are kept', ({ left, ...given }) => {
    expect(segments(given).left).toBe(left);
  });

  it('folds the summary that it finds together with what follows it (W29)', () => {
    const conversation = historyOf(Array.from({ length: 12 }, () => ({ kind: 'user', text: 'word' })));

    const first = rangeBetween({ conversation, folded: undefined }, { maxTurns: 10, keepFirst: 1 });
    expect(first).toEqual({ first: 1, last: 8 });
    const second = rangeBetween({ conversation, folded: first }, { maxTurns: 4, keepFirst: 1 });
    expect(second).toEqual({ first: 1, last: 11 });
  });
});

const weightless = { tailTokens: 0, tokensOf: () => 1 };

describe.each(['summary', 'head_tail'])('a stretch to fold, %s', (strategy) => {
  const choose = (foldable: Parameters<typeof rangeBeforeTail>[0], size: number) =>
    strategy === 'summary'
      ? rangeBeforeTail(foldable, { ...weightless, tailTokens: size })
      : rangeBetween(foldable, { maxTurns: size + 1, keepFirst: 1 });

  it('never separates a call from its result or the parts of a reply, and only grows (W33, W29)', () => {
    fc.assert(
      fc.property(anyHistory(30), anyHistory(30), fc.nat({ max: 10 }), (history, more, size) => {
        const folded = choose({ conversation: history, folded: undefined }, size);
        const turns = turnsOf(history);
        fc.pre(folded !== undefined);

        expect(turns.some(({ first }) => first === folded.first)).toBe(true);
        expect(turns.some(({ last }) => last === folded.last)).toBe(true);

        const longer = [
          ...history,
          ...more.map((message) => ({ ...message, id: `${message.id}z` as typeof message.id, iteration: null })),
        ];
        const again = choose({ conversation: longer, folded }, size);
        if (again) expect(again).toEqual({ first: folded.first, last: expect.any(Number) as number });
        if (again) expect(again.last).toBeGreaterThan(folded.last);
      }),
    );
  });
});

it('keeps the tail that fits, and never less than the last turn', () => {
  fc.assert(
    fc.property(anyHistory(20), fc.nat({ max: 12 }), (conversation, tailTokens) => {
      const stretch = rangeBeforeTail({ conversation, folded: undefined }, { tailTokens, tokensOf: () => 1 });
      fc.pre(stretch !== undefined);
      const tail = turnsOf(conversation).filter(({ first }) => first > stretch.last);

      expect(tail.length).toBe(Math.min(Math.max(1, tailTokens), turnCount({ conversation, folded: undefined }) - 1));
    }),
  );
});
