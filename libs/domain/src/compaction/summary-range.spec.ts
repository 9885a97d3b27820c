import fc from 'fast-check';
import { listTurns } from '../context/turns';
import { anyHistory, toHistory } from '../testing/histories';
import { segments, rangeBeforeTail, rangeBetween, turnCount } from './summary-range';

describe('head_tail', () => {
  it.each([
    { turns: 11, maxTurns: 10, head: 2, left: 5 },
    { turns: 101, maxTurns: 100, head: 1, left: 50 },
    { turns: 4, maxTurns: 100, head: 1, left: 2 },
  ])('leaves $left of $turns turns where $maxTurns are allowed and $head are kept', ({ left, ...given }) => {
    expect(segments(given).left).toBe(left);
  });

  it('includes the earlier summary together with what follows it', () => {
    const conversation = toHistory(Array.from({ length: 12 }, () => ({ kind: 'user', text: 'word' })));

    const first = rangeBetween({ conversation, summarized: undefined }, { maxTurns: 10, keepFirst: 1 });
    expect(first).toEqual({ first: 1, last: 8 });
    const second = rangeBetween({ conversation, summarized: first }, { maxTurns: 4, keepFirst: 1 });
    expect(second).toEqual({ first: 1, last: 11 });
  });
});

const oneTokenEach = { tailTokens: 0, countTokens: () => 1 };

describe.each(['summary', 'head_tail'])('the range to summarize, %s', (strategy) => {
  const choose = (summarizable: Parameters<typeof rangeBeforeTail>[0], size: number) =>
    strategy === 'summary'
      ? rangeBeforeTail(summarizable, { ...oneTokenEach, tailTokens: size })
      : rangeBetween(summarizable, { maxTurns: size + 1, keepFirst: 1 });

  it('never separates a call from its result or the parts of a reply, and only grows', () => {
    fc.assert(
      fc.property(anyHistory(30), anyHistory(30), fc.nat({ max: 10 }), (history, more, size) => {
        const summarized = choose({ conversation: history, summarized: undefined }, size);
        const turns = listTurns(history);
        fc.pre(summarized !== undefined);

        expect(turns.some(({ first }) => first === summarized.first)).toBe(true);
        expect(turns.some(({ last }) => last === summarized.last)).toBe(true);

        const longer = [
          ...history,
          ...more.map((message) => ({ ...message, id: `${message.id}z` as typeof message.id, iteration: null })),
        ];
        const again = choose({ conversation: longer, summarized }, size);
        if (again) expect(again).toEqual({ first: summarized.first, last: expect.any(Number) as number });
        if (again) expect(again.last).toBeGreaterThan(summarized.last);
      }),
    );
  });
});

it('keeps the tail that fits, and never less than the last turn', () => {
  fc.assert(
    fc.property(anyHistory(20), fc.nat({ max: 12 }), (conversation, tailTokens) => {
      const range = rangeBeforeTail({ conversation, summarized: undefined }, { tailTokens, countTokens: () => 1 });
      fc.pre(range !== undefined);
      const tail = listTurns(conversation).filter(({ first }) => first > range.last);

      expect(tail.length).toBe(
        Math.min(Math.max(1, tailTokens), turnCount({ conversation, summarized: undefined }) - 1),
      );
    }),
  );
});
