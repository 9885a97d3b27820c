import { type UsageRow, toAmount, everyDay, firstDay, roundUp } from './usage-days';

const now = Date.parse('2026-03-02T10:00:00Z');
const row = { day: '2026-03-01', calls: 2, input_tokens: 10, output_tokens: 5, cost_usd: null } as UsageRow;

it('has every day of the range, also those without calls', () => {
  const days = everyDay([row], { days: 3, now });
  expect(days.map(({ day, row: found }) => [day, found?.calls])).toEqual([
    ['2026-02-28', undefined],
    ['2026-03-01', 2],
    ['2026-03-02', undefined],
  ]);
  expect(firstDay(3, now)).toBe('2026-02-28');
});

it('counts what a chart can show', () => {
  expect((['cost', 'tokens', 'calls'] as const).map((measure) => toAmount(row, measure))).toEqual([0, 15, 2]);
});

it.each([
  [0, 1],
  [0.003, 0.005],
  [1, 1],
  [2100, 5000],
  [99, 100],
])('%d has the scale %d', (value, scale) => {
  expect(roundUp(value)).toBeCloseTo(scale, 10);
});
