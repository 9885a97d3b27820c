import { OutageBackoff } from './outage-backoff';

describe('OutageBackoff', () => {
  it('waits a quarter of the time that the outage has lasted, within bounds', () => {
    const backoff = new OutageBackoff();

    expect([0, 500, 4_000, 20_000, 40_000, 60_000, 80_000].map((now) => backoff.nextDelayMs(now))).toEqual([
      250, 250, 1_000, 5_000, 10_000, 15_000, 15_000,
    ]);
  });

  it('starts again from the minimum after a success', () => {
    const backoff = new OutageBackoff();
    backoff.nextDelayMs(0);
    backoff.reset();

    expect([100_000, 104_000].map((now) => backoff.nextDelayMs(now))).toEqual([250, 1_000]);
  });

  it('takes a failure after a quiet time for another outage, though no run has ended since', () => {
    const backoff = new OutageBackoff();

    expect([0, 500, 120_000, 124_000].map((now) => backoff.nextDelayMs(now))).toEqual([250, 250, 250, 1_000]);
  });
});
