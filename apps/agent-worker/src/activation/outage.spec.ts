import { Outage } from './outage';

describe('Outage', () => {
  it('has one wait a quarter of the time that it has lasted, within bounds', () => {
    const outage = new Outage();

    expect([0, 500, 4_000, 20_000, 600_000].map((now) => outage.pauseMs(now))).toEqual([
      250, 250, 1_000, 5_000, 15_000,
    ]);
  });

  it('begins anew once something has worked', () => {
    const outage = new Outage();
    outage.pauseMs(0);
    outage.isOver();

    expect([100_000, 104_000].map((now) => outage.pauseMs(now))).toEqual([250, 1_000]);
  });
});
