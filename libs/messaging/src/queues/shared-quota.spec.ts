import { randomUUID } from 'node:crypto';
import { SharedQuota } from './shared-quota';

const url = process.env['TEST_REDIS_URL'] ?? '';
const open: SharedQuota[] = [];
afterEach(() => {
  for (const quota of open.splice(0)) quota.close();
});

function createQuota(settings: { url: string; prefix: string }): SharedQuota {
  const quota = new SharedQuota({ perSecond: 10, ...settings });
  open.push(quota);
  return quota;
}

describe('SharedQuota', () => {
  it('is one quota for all processes on one Redis', async () => {
    const prefix = randomUUID();
    const [one, other] = [createQuota({ url, prefix }), createQuota({ url, prefix })];
    await Promise.all([one.ping(), other.ping()]);

    expect(await one.spend('acc_1', 6)).toBe(0);
    const waitMs = await other.spend('acc_1', 6);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(1_000);
    expect(await other.spend('acc_2', 6)).toBe(0);
  });

  it('is restored after a second', async () => {
    const quota = createQuota({ url, prefix: randomUUID() });
    await quota.ping();
    let waitMs = await quota.spend('acc_1', 11);
    expect(waitMs).toBeGreaterThan(0);
    while (waitMs > 0) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = await quota.spend('acc_1', 1);
    }
    expect(await quota.spend('acc_1', 9)).toBe(0);
  });

  it('is one for each process while Redis is away (I1)', async () => {
    const nowhere = { url: 'redis://127.0.0.1:1', prefix: randomUUID() };
    const [one, other] = [createQuota(nowhere), createQuota(nowhere)];

    expect(await one.spend('acc_1', 6)).toBe(0);
    expect(await one.spend('acc_1', 6)).toBeGreaterThan(0);
    expect(await other.spend('acc_1', 6)).toBe(0);
  });
});
