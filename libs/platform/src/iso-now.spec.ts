import { isoNow } from './iso-now';

describe('isoNow', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('gives the current time, also after the clock is set back', () => {
    for (const ms of [1_900_000_000_000, 1_900_000_000_000, 1_900_000_000_001, 1_800_000_000_000]) {
      jest.setSystemTime(ms);
      expect(isoNow()).toBe(new Date(ms).toISOString());
    }
  });
});
