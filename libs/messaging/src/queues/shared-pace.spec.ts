import { randomUUID } from 'node:crypto';
import type { PaceLimits } from '@rondo/domain';
import { type PaceClock, SharedPace } from './shared-pace';

const url = process.env['TEST_REDIS_URL'] ?? '';
const minuteMs = 60_000;

const open: SharedPace[] = [];
afterEach(() => {
  for (const pace of open.splice(0)) pace.close();
});

/** Time that goes on only when everything waits for it, so that a busy machine changes nothing. */
class DrivenClock implements PaceClock {
  private nowMs = 0;
  private waits = 0;
  private sleepers: { readonly at: number; readonly resolve: () => void }[] = [];

  now(): number {
    return this.nowMs;
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    this.waits += 1;
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.nowMs + ms, resolve };
      this.sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.sleepers = this.sleepers.filter((one) => one !== sleeper);
        reject(new Error('aborted'));
      });
    });
  }

  /** Lets time go on until `isOver`. */
  async drive(paces: readonly SharedPace[], isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.untilAllWait(paces);
      const next = this.sleepers.reduce((first, one) => (one.at < first ? one.at : first), Infinity);
      if (next === Infinity) continue;
      this.nowMs = Math.max(this.nowMs, next);
      const due = this.sleepers.filter(({ at }) => at <= this.nowMs);
      this.sleepers = this.sleepers.filter(({ at }) => at > this.nowMs);
      for (const { resolve } of due) resolve();
    }
  }

  /** Redis answers in order, so what was asked before a ping is answered after it, and leads to a wait. */
  private async untilAllWait(paces: readonly SharedPace[]): Promise<void> {
    let before = -1;
    while (before !== this.waits) {
      before = this.waits;
      await Promise.all(paces.map((pace) => pace.ping()));
      await new Promise(setImmediate);
    }
  }
}

async function paceWith(
  limits: PaceLimits,
  { prefix = randomUUID(), clock }: { prefix?: string; clock?: PaceClock } = {},
): Promise<SharedPace> {
  const time = clock && { clock, commandTimeoutMs: 60_000 };
  const pace = new SharedPace({ url, prefix, ...time, limits: new Map([['openai', limits]]) });
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

/** A provider that refuses more than so many requests in any minute. */
class Provider {
  readonly times: { at: number; isRefused: boolean }[] = [];

  constructor(
    private readonly perMinute: number,
    private readonly clock: PaceClock,
  ) {}

  /** The milliseconds to wait, if it refuses. */
  ask(): number | undefined {
    const at = this.clock.now();
    const recent = this.times.filter((one) => !one.isRefused && one.at > at - minuteMs);
    const isRefused = recent.length >= this.perMinute;
    this.times.push({ at, isRefused });
    return isRefused ? (recent[0]?.at ?? at) + minuteMs - at : undefined;
  }
}

/** So many runs, which ask until a time of the clock. */
async function runs(
  count: number,
  paces: readonly SharedPace[],
  given: { provider: Provider; clock: DrivenClock; untilMs: number },
) {
  const { provider, clock, untilMs } = given;
  let active = count;
  const run = async (index: number) => {
    const pace = paces[index % paces.length];
    while (pace && clock.now() < untilMs) {
      await enter(pace, { account: `acc_${index % 7}` });
      const waitMs = provider.ask();
      if (waitMs !== undefined) pace.noteRefusal('openai', waitMs);
      await clock.wait(waitMs ?? 5);
    }
    active -= 1;
  };
  const all = Promise.all(Array.from({ length: count }, (_, index) => run(index)));
  await clock.drive(paces, () => active === 0);
  await all;
}

describe('SharedPace', () => {
  it.each([
    ['configured', { requestsPerMinute: 200 }],
    ['learned from refusals', {}],
  ])(
    'uses nearly all of a limit and is not refused after the first minute, with 50 runs in two processes: %s',
    async (_, limits) => {
      const clock = new DrivenClock();
      const prefix = randomUUID();
      const paces = [await paceWith(limits, { prefix, clock }), await paceWith(limits, { prefix, clock })];
      const provider = new Provider(200, clock);

      await runs(50, paces, { provider, clock, untilMs: 4 * minuteMs });

      const later = provider.times.filter(({ at }) => at >= 1.5 * minuteMs && at < 3.5 * minuteMs);
      expect(later.filter(({ isRefused }) => isRefused)).toEqual([]);
      expect(later.length).toBeGreaterThanOrEqual(0.95 * 2 * 200);
    },
  );

  it('tries more than a refusal taught when no other follows, and forgets it after an hour', async () => {
    const clock = new DrivenClock();
    const pace = await paceWith({}, { clock });
    const pass = async (step: () => Promise<unknown>) => {
      const since = clock.now();
      let isOver = false;
      const done = step().finally(() => (isOver = true));
      await clock.drive([pace], () => isOver);
      await done;
      return clock.now() - since;
    };
    const enterTen = () => pass(() => Promise.all(Array.from({ length: 10 }, () => enter(pace))));
    await Promise.all(Array.from({ length: 31 }, () => enter(pace)));
    pace.noteRefusal('openai', 1_000);
    await pass(() => clock.wait(2 * minuteMs));

    const first = await enterTen();
    await pass(() => clock.wait(10 * minuteMs));
    const later = await enterTen();
    await pass(() => clock.wait(50 * minuteMs));

    expect(first).toBeGreaterThan(15_000); // 30 per minute, and one that is made up for
    expect(later).toBeGreaterThan(0);
    expect(later).toBeLessThan(0.75 * first);
    expect(await enterTen()).toBe(0);
  });

  it('lets accounts take turns, whatever they ask for', async () => {
    const pace = await paceWith({ requestsPerMinute: 1_200 });
    const order: string[] = [];
    const ask = (account: string) => enter(pace, { account }).then(() => order.push(account));

    await Promise.all([...Array.from({ length: 10 }, () => ask('busy')), ask('quiet')]);

    expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
  });

  it('waits for tokens, and says how long', async () => {
    const clock = new DrivenClock();
    const pace = await paceWith({ tokensPerMinute: 60_000 }, { clock });
    let isOver = false;
    const told = (async () => {
      await enter(pace, { tokens: 15_000 });
      return enter(pace, { tokens: 100 });
    })().finally(() => (isOver = true));

    await clock.drive([pace], () => isOver);

    const [waitMs] = await told;
    expect(waitMs).toBeGreaterThanOrEqual(10_000);
    expect(clock.now()).toBeGreaterThanOrEqual(10_000);
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
    const clock = new DrivenClock(); // stands still
    const pace = await paceWith({}, { clock });
    const away = new SharedPace({
      clock,
      url: 'redis://127.0.0.1:1',
      limits: new Map([['openai', { requestsPerMinute: 1 }]]),
    });
    open.push(away);

    const told = await Promise.all([...Array.from({ length: 500 }, () => enter(pace)), enter(away), enter(away)]);

    expect(told.flat()).toEqual([]);
    expect(clock.now()).toBe(0);
  });
});
