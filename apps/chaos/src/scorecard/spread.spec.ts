import { findSpread } from './spread';

describe('findSpread', () => {
  it('takes percentiles by nearest rank', () => {
    const times = Array.from({ length: 100 }, (_, index) => 100 - index);

    expect(findSpread(times)).toEqual({ count: 100, p50: 50, p95: 95, p99: 99, max: 100 });
  });

  it('gives a single value for every percentile', () => {
    expect(findSpread([7.4])).toEqual({ count: 1, p50: 7, p95: 7, p99: 7, max: 7 });
  });

  it('is undefined without values', () => {
    expect(findSpread([])).toBeUndefined();
  });
});
