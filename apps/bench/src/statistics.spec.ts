import { percentile, toSpread } from './statistics';

describe('percentile', () => {
  it.each([
    [50, 3],
    [99, 5],
    [0, 1],
    [100, 5],
  ])('%i is %i of 1 to 5, in whatever order they come', (percent, value) => {
    expect(percentile([5, 1, 4, 2, 3], percent)).toBe(value);
  });

  it('is not a number where nothing was measured', () => {
    expect(percentile([], 50)).toBeNaN();
  });
});

it.each([
  [[1, 2, 3], 2],
  [[1, 2, 4, 8], 3],
])('has of %j the median %i', (values, median) => {
  expect(toSpread(values).median).toBe(median);
});

it('spreads from the least to the most around the median', () => {
  expect(toSpread([10, 2, 30])).toEqual({ median: 10, min: 2, max: 30 });
});
