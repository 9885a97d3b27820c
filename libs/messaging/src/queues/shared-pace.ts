import { setTimeout as sleep } from 'node:timers/promises';
import type { PaceAdvice, PaceAsk, PaceLimits, ProviderPace } from '@rondo/domain';
import type { Redis } from 'ioredis';
import { admitScript, adviseScript, correctScript, refuseScript } from './pace-scripts';
import { openRedis } from './redis-connections';

/** Short, so that a model call does not wait long for a Redis that is away. */
const usualCommandTimeoutMs = 500;
/** While no limit of a provider is known, this process asks only so often whether another has learned one. */
const freeForMs = 1_000;
/** A wait that is longer is told. */
const longWaitMs = 1_000;
/** The time that the limits are for. */
const minuteMs = 60_000;

/** The time in which requests are spaced. */
export interface PaceClock {
  /** The time in milliseconds. */
  now(): number;
  /** Resolves after so many milliseconds, or rejects when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<unknown>;
}

const systemClock: PaceClock = {
  now: () => performance.now(),
  wait: (ms, signal) => sleep(ms, undefined, signal && { signal }),
};

interface PaceSettings {
  readonly url: string;
  /** The limits by the name of the provider. */
  readonly limits: ReadonlyMap<string, PaceLimits>;
  readonly prefix?: string;
  /** Instead of those of Redis and of this process. For tests. */
  readonly clock?: PaceClock;
  readonly commandTimeoutMs?: number;
}

/**
 * Spaces the requests to each provider over all processes that share a Redis: each process reserves the time of its next
 * request there, one after the other, and gives it to the accounts that wait in it by turns. While Redis is away, nothing
 * waits, and the provider's refusals are the only limit (I1).
 */
export class SharedPace implements ProviderPace {
  private readonly redis: Redis;
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly settings: PaceSettings) {
    this.redis = openRedis(settings.url, settings.commandTimeoutMs ?? usualCommandTimeoutMs);
    this.redis.on('error', () => undefined); // the queues' connection to the same server logs it
  }

  /** Resolves when Redis answers. */
  async ping(): Promise<void> {
    if (this.redis.status !== 'ready') await new Promise((resolve) => this.redis.once('ready', resolve));
    await this.redis.ping();
  }

  enter(ask: PaceAsk, signal: AbortSignal): AsyncIterable<number> {
    return this.lane(ask.provider).enter(ask, signal);
  }

  noteRefusal(provider: string, retryAfterMs = longWaitMs): void {
    void this.run(provider, refuseScript, [retryAfterMs, this.lane(provider).close()]);
  }

  slowDown(provider: string, { intervalMs, forMs }: PaceAdvice): void {
    void this.run(provider, adviseScript, [intervalMs, forMs, this.lane(provider).close()]);
  }

  correct(provider: string, tokens: number): void {
    const { tokensPerMinute } = this.settings.limits.get(provider) ?? {};
    if (tokensPerMinute) void this.run(provider, correctScript, [tokensPerMinute, tokens]);
  }

  close(): void {
    this.redis.disconnect();
  }

  private lane(provider: string): Lane {
    const known = this.lanes.get(provider);
    if (known) return known;
    const { requestsPerMinute = 0, tokensPerMinute = 0 } = this.settings.limits.get(provider) ?? {};
    const lane = new Lane(this.settings.clock ?? systemClock, async (tokens, others) => {
      const answer = await this.run(provider, admitScript, [requestsPerMinute, tokensPerMinute, tokens, others]);
      return Array.isArray(answer) ? { waitMs: Number(answer[0]), intervalMs: Number(answer[1]) } : free;
    });
    this.lanes.set(provider, lane);
    return lane;
  }

  /** Undefined while Redis is away. */
  private async run(provider: string, script: string, values: readonly number[]): Promise<unknown> {
    const { prefix = 'rondo:pace', clock } = this.settings;
    try {
      return await this.redis.eval(script, 1, `${prefix}:${provider}`, minuteMs, clock?.now() ?? '', ...values);
    } catch {
      return undefined;
    }
  }
}

interface Reservation {
  readonly waitMs: number;
  /** Between two requests; 0 while no limit is known. */
  readonly intervalMs: number;
}

const free: Reservation = { waitMs: 0, intervalMs: 0 };

interface Waiter {
  readonly tokens: number;
  readonly admit: () => void;
}

/** The requests of this process that wait for one provider. */
class Lane {
  private readonly waiting = new Map<string, Set<Waiter>>();
  private isServing = false;
  private freeUntil = 0;
  /** Requests that were sent without asking. */
  private unreported = 0;
  private intervalMs = 0;
  private nextAt = 0;

  constructor(
    private readonly clock: PaceClock,
    private readonly reserve: (tokens: number, others: number) => Promise<Reservation>,
  ) {}

  /** Redis is asked before the next request. Returns the number of those that were sent without asking. */
  close(): number {
    const { unreported } = this;
    this.unreported = 0;
    this.freeUntil = 0;
    return unreported;
  }

  async *enter({ account, tokens }: PaceAsk, signal: AbortSignal): AsyncGenerator<number, void> {
    if (signal.aborted) return;
    if (this.clock.now() < this.freeUntil) {
      this.unreported += 1;
      return;
    }
    let admit = () => {};
    const admitted = new Promise<true>((resolve) => (admit = () => resolve(true)));
    const waiter: Waiter = { tokens, admit };
    const leave = () => {
      this.remove(account, waiter);
      admit();
    };
    this.add(account, waiter);
    signal.addEventListener('abort', leave, { once: true });
    try {
      void this.serve();
      if (!(await this.isWithin(longWaitMs, admitted))) yield this.estimateWait();
      await admitted;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Reserves one turn after the other, as long as requests wait. */
  private async serve(): Promise<void> {
    if (this.isServing) return;
    this.isServing = true;
    for (let next = this.takeNext(); next; next = this.takeNext()) {
      const { waitMs, intervalMs } = await this.reserve(next.tokens, this.close());
      this.intervalMs = intervalMs;
      this.nextAt = this.clock.now() + waitMs;
      if (waitMs > 0) await this.clock.wait(waitMs);
      next.admit();
      if (waitMs === 0 && intervalMs === 0) this.open();
    }
    this.isServing = false;
  }

  private open(): void {
    this.freeUntil = this.clock.now() + freeForMs;
    for (let next = this.takeNext(); next; next = this.takeNext()) {
      this.unreported += 1;
      next.admit();
    }
  }

  private add(account: string, waiter: Waiter): void {
    const own = this.waiting.get(account);
    if (own) own.add(waiter);
    else this.waiting.set(account, new Set([waiter]));
  }

  private remove(account: string, waiter: Waiter): void {
    const own = this.waiting.get(account);
    if (own?.delete(waiter) && own.size === 0) this.waiting.delete(account);
  }

  /** Takes a request of the account that was served longest ago, which then stands behind the others. */
  private takeNext(): Waiter | undefined {
    for (const [account, own] of this.waiting) {
      const [waiter] = own;
      this.waiting.delete(account);
      if (!waiter) continue;
      own.delete(waiter);
      if (own.size > 0) this.waiting.set(account, own);
      return waiter;
    }
    return undefined;
  }

  /** How long the last of those that wait has to wait, in milliseconds. */
  private estimateWait(): number {
    const ahead = [...this.waiting.values()].reduce((sum, { size }) => sum + size, 0);
    return Math.max(longWaitMs, Math.round(this.nextAt - this.clock.now() + ahead * this.intervalMs));
  }

  private async isWithin(ms: number, event: Promise<true>): Promise<boolean> {
    const over = new AbortController();
    const late = this.clock.wait(ms, over.signal).then(() => false);
    try {
      return await Promise.race([event, late]);
    } finally {
      over.abort();
    }
  }
}
