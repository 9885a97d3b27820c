import { measureRun } from './run-details';

const createdAt = '2026-01-01T00:00:00.000Z';

describe('the time that a run has taken', () => {
  it('is that until the moment that is shown', () => {
    expect(measureRun({ createdAt, restedMs: 0 }, '2026-01-01T00:00:02.500Z')).toBe(2_500);
  });

  it('of a fork has not the days before it was made', () => {
    expect(measureRun({ createdAt, restedMs: 2 * 86_400_000 }, '2026-01-03T00:00:05.000Z')).toBe(5_000);
  });
});
