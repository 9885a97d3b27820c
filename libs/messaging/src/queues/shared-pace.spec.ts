import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PaceLimits } from '@rondo/domain';
import { SharedPace } from './shared-pace';

const url = process.env['TEST_REDIS_URL'] ?? '';
const open: SharedPace[] = [];
afterEach(() => {
  for (const pace of open.splice(0)) pace.close();
});

async function paceWith(limits: PaceLimits, { prefix = randomUUID(), minuteMs = 60_000 } = {}): Promise<SharedPace> {
  const pace = new SharedPace({ url, prefix, minuteMs, limits: new Map([['openai', limits]]) });
  open.push(pace);
  await pace.ping();
  return pace;
}

async function enter(
  pace: SharedPace,
  { account = 'acc_1', tokens = 0, signal = new AbortController().signal } = {},
): Promise<number[]> {
  const told: number[] = [];
  for await (const waitMs of pace.enter({ provider: 'openai', account, tokens }, signal)) told.push(waitMs);
  return told;
}

/** A provider that refuses more than so many requests in any minute, whose minutes are short. */
class Provider {
  readonly times: { at: number; isRefused: boolean }[] = [];

  constructor(
    private readonly perMinute: number,
    private readonly minuteMs: number,
  ) {}

  /** The milliseconds to wait, if it refuses. */
  ask(): number | undefined {
    const at = performance.now();
    const recent = this.times.filter((one) => !one.isRefused && one.at > at - this.minuteMs);
    const isRefused = recent.length >= this.perMinute;
    this.times.push({ at, isRefused });
    return isRefused ? (recent[0]?.at ?? at) + this.minuteMs - at : undefined;
  }
}

async function runs(
  count: number,
  paces: readonly SharedPace[],
  { provider, untilMs }: { provider: Provider; untilMs: number },
) {
  const end = performance.now() + untilMs;
  const run = async (index: number) => {
    const pace = paces[index % paces.length];
    while (pace && performance.now() < end) {
      await enter(pace, { account: `acc_${index % 7}` });
      const waitMs = provider.ask();
      if (waitMs !== undefined) pace.refused('openai', waitMs);
      await sleep(waitMs ?? 5);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => run(index)));
}

describe('SharedPace', () => {
  it.each([
    ['configured', { requestsPerMinute: 200 }],
    ['learned from refusals', {}],
  ])(
    'uses nearly all of a limit and is not refused after the first minute, with 50 runs in two processes: %s',
    async (_, limits) => {
      const minuteMs = 3_000;
      const prefix = randomUUID();
      const paces = [await paceWith(limits, { prefix, minuteMs }), await paceWith(limits, { prefix, minuteMs })];
      const provider = new Provider(200, minuteMs);
      const beganAt = performance.now();

      await runs(50, paces, { provider, untilMs: 4 * minuteMs });

      const later = provider.times.filter(({ at }) => at >= beganAt + 1.5 * minuteMs && at < beganAt + 3.5 * minuteMs);
      // A minute is three seconds here, so a pause of a busy machine counts twenty times: it may cost one request in a hundred.
      expect(later.filter(({ isRefused }) => isRefused).length).toBeLessThanOrEqual(later.length / 100);
      expect(later.length).toBeGreaterThanOrEqual(0.9 * 2 * 200); // less than the 95 % of a quiet machine
    },
    30_000,
  );

  it('lets accounts take turns, whatever they ask for', async () => {
    const pace = await paceWith({ requestsPerMinute: 1_200 });
    const order: string[] = [];
    const ask = (account: string) => enter(pace, { account }).then(() => order.push(account));

    await Promise.all([...Array.from({ length: 10 }, () => ask('busy')), ask('quiet')]);

    expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
  });

  it('waits for tokens, and says how long', async () => {
    const pace = await paceWith({ tokensPerMinute: 60_000 }, { minuteMs: 10_000 });

    await enter(pace, { tokens: 15_000 });
    const [waitMs] = await enter(pace, { tokens: 100 });

    expect(waitMs).toBeGreaterThanOrEqual(1_000);
  });

  it('ends a wait that is aborted, and gives its turn away', async () => {
    const pace = await paceWith({ requestsPerMinute: 60 });
    const stop = new AbortController();
    await enter(pace);

    const aborted = enter(pace, { signal: stop.signal });
    const next = enter(pace, { account: 'acc_2' });
    stop.abort();

    expect(await aborted).toEqual([]);
    await next;
  });

  it('holds nothing up while no limit is known, or Redis is away', async () => {
    const pace = await paceWith({});
    const away = new SharedPace({
      url: 'redis://127.0.0.1:1',
      limits: new Map([['openai', { requestsPerMinute: 1 }]]),
    });
    open.push(away);
    const beganAt = performance.now();

    await Promise.all(Array.from({ length: 500 }, () => enter(pace)));
    await enter(away);
    await enter(away);

    expect(performance.now() - beganAt).toBeLessThan(1_000);
  });
});
