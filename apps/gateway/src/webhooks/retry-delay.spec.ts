import { retryDelayMs, retryPausesMs } from './webhook-dispatcher';

const hourMs = 3_600_000;

describe('the pauses between attempts', () => {
  it('give an endpoint more than a day', () => {
    const least = retryPausesMs.map((_, index) => retryDelayMs(index + 1, 0) ?? 0);
    expect(least.reduce((sum, pause) => sum + pause, 0)).toBeGreaterThanOrEqual(24 * hourMs);
    expect(retryDelayMs(retryPausesMs.length + 1, 0)).toBeUndefined();
  });

  it('grow, also when chance is against it', () => {
    for (let attempt = 1; attempt < retryPausesMs.length; attempt += 1)
      expect(retryDelayMs(attempt, 0.999)).toBeLessThan(retryDelayMs(attempt + 1, 0) ?? 0);
  });
});
