import { addUsage, noUsage, roundUsd } from './index';

const costing = (cost_usd: number | null) => ({ ...noUsage, cost_usd });

it('adds money without the digits that sums of binary fractions have', () => {
  const sum = [0.0627, 0.0209, 0.1, 0.2].map(costing).reduce(addUsage, noUsage);

  expect(sum.cost_usd).toBe(0.3836);
  expect(addUsage(costing(0.1), costing(0.2)).cost_usd).toBe(0.3);
  expect(addUsage(costing(null), costing(0.2)).cost_usd).toBeNull();
  expect([0.06269999999999999, 1e-12, 4e-13, 123_456.5].map(roundUsd)).toEqual([0.0627, 1e-12, 0, 123_456.5]);
});
