import { describeTime } from './run-time';

const run = { created_at: '2026-01-01T00:00:00.000Z', finished_at: '2026-01-01T00:00:02.500Z', forked_from: null };

describe('the time of a run in a list', () => {
  it('ends with it, or now', () => {
    expect(describeTime(run, 0)).toBe('2.5 s');
    expect(describeTime({ ...run, finished_at: null }, Date.parse('2026-01-01T00:00:04.000Z'))).toBe('4.0 s');
  });

  it('of a fork is said to begin with the fork', () => {
    const forked_from = { run_id: 'run_1', seq: 5, hash: 'a' };
    expect(describeTime({ ...run, forked_from }, 0)).toBe('2.5 s since its fork');
  });
});
