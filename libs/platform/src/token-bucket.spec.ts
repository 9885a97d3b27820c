import { TokenBucket } from './token-bucket';

describe('TokenBucket', () => {
  it('allows a burst, then as many as are refilled over time', () => {
    let now = 0;
    const bucket = new TokenBucket(10, 20, () => now);
    const passing = () => Array.from({ length: 100 }, () => bucket.take()).filter(Boolean).length;

    expect(passing()).toBe(20);
    now += 500;
    expect(passing()).toBe(5);
    now += 3_600_000;
    expect(passing()).toBe(20);
  });
});
