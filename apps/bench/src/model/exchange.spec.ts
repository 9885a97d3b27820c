import { gapsMs } from './exchange';

const exchange = (tag: string, turn: number, [arrivedMs, endedMs]: [number, number]) => ({
  ...{ tag, turn, arrivedMs, endedMs },
  bytes: 0,
});

it('measures from the end of an answer to the next request of the same run', () => {
  const gaps = gapsMs([exchange('a', 0, [0, 10]), exchange('b', 0, [5, 20]), exchange('a', 1, [13, 30])]);

  expect(gaps).toEqual([3]);
});

it('skips a request whose previous answer was not recorded', () => {
  expect(gapsMs([exchange('a', 4, [0, 10]), exchange('a', 6, [50, 60])])).toEqual([]);
});
