import { timeTaken } from './time-taken';

const call = (second: number | null, durationMs: number | null) => ({
  startedAt: second === null ? null : new Date(Date.UTC(2026, 0, 1) + 1_000 * second).toISOString(),
  durationMs,
});

it.each([
  ['one after the other', [call(0, 2_000), call(5, 3_000)], 5_000],
  ['at the same time', [call(0, 2_000), call(0, 2_500), call(1, 500)], 2_500],
  ['that overlap', [call(1, 2_000), call(0, 2_000)], 3_000],
  ['of which one has not ended', [call(0, 2_000), call(3, null)], 2_000],
  ['that were refused before they began', [call(null, 0), call(0, 2_000)], 2_000],
  ['that were not measured', [call(null, null)], null],
])('the time of calls %s', (_, calls, time) => {
  expect(timeTaken(calls)).toBe(time);
});
