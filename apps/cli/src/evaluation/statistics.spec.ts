import fc from 'fast-check';
import { bootstrapPairs, wilson } from './statistics';

describe('confidence intervals', () => {
  it.each([
    [0, 10, 0, 0.2775],
    [5, 10, 0.2366, 0.7634],
    [10, 10, 0.7225, 1],
    [41, 165, 0.1888, 0.3197],
  ])('of %i of %i right answers are those of Wilson', (right, total, low, high) => {
    const interval = wilson(right, total);
    expect(interval.low).toBeCloseTo(low, 3);
    expect(interval.high).toBeCloseTo(high, 3);
  });

  it('contain the share, and are within 0 and 1', () => {
    const counts = fc.integer({ min: 1, max: 1000 }).chain((total) => fc.tuple(fc.nat(total), fc.constant(total)));
    fc.assert(
      fc.property(counts, ([right, total]) => {
        const { low, high } = wilson(right, total);
        return low >= 0 && high <= 1 && low <= right / total + 1e-9 && high >= right / total - 1e-9;
      }),
    );
  });

  it('of no difference are empty, and of the same differences are the same', () => {
    expect(bootstrapPairs([0, 0, 0])).toEqual({ low: 0, high: 0 });
    const differences = [1, 0, 0, -1, 1, 1, 0, 0, 1, 0];
    const interval = bootstrapPairs(differences);
    expect(bootstrapPairs(differences)).toEqual(interval);
    expect(interval.low).toBeLessThan(0.3);
    expect(interval.high).toBeGreaterThan(0.3);
  });
});
