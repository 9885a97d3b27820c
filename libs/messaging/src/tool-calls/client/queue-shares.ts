import { randomUUID } from 'node:crypto';
import type { AccountId, RunId } from '@rondo/contract';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { openRedis } from '../../queues/redis-connections';
import { callQueueBytes } from '../tool-streams';

/** The bytes that the calls of one account may have in the queue, where its tier says nothing else. */
export const usualQueueShare = callQueueBytes / 8;

/** Short, so that a call does not wait long for a Redis that is away. */
const usualCommandTimeoutMs = 500;
/** What a process takes at once, so that it asks Redis for one small call in many. */
const blockBytes = 64 * 1024;
/** What is given back by at least so much is told to Redis at once; less than that at the next renewal. */
const promptBytes = 1024 * 1024;
/** How long a process that has not reached Redis still waits, for those that come after it. */
const askedForMs = 3_000;
const shownRuns = 100;

interface QueueSharesSettings {
  readonly url: string;
  /** The bytes that an account may have in the queue: `usualQueueShare` without it, and where it rejects. */
  readonly readLimit?: (account: AccountId) => Promise<number>;
  readonly prefix?: string;
  /** How long a process that died keeps its share. It is renewed six times as often. */
  readonly leaseMs?: number;
  readonly retryMs?: number;
  readonly commandTimeoutMs?: number;
}

/** A call on its way into the queue, with its length there. */
export interface QueuedCall {
  readonly account: AccountId;
  readonly runId: RunId;
  readonly bytes: number;
}

/** What a call takes of the share of its account. */
export interface HeldShare {
  /** Does nothing the second time. */
  giveBack(): void;
  /** Gives the share back once the call, which was answered while it may still have been in the queue, has left it. */
  giveBackWhen(isGone: () => Promise<boolean>): void;
}

interface Waiter extends QueuedCall {
  readonly admit: (share: HeldShare | undefined) => void;
}

interface AccountState {
  /** What this process has taken of the share. */
  held: number;
  /** What its calls need of that. */
  used: number;
  readonly waiting: Set<Waiter>;
  isServing: boolean;
  wake: () => void;
}

interface Leaving {
  readonly share: HeldShare;
  readonly isGone: () => Promise<boolean>;
}

/**
 * Shares the queue of tool calls among accounts: a call waits in its worker while those of its account hold as many bytes of
 * the queue as the account may have. The bytes are counted in Redis for each process, with an expiry, so that those of a dead
 * worker are given back. A call that is larger than the share is sent when it is the only one. While Redis is away, nothing
 * waits (I1).
 */
export class QueueShares {
  private readonly redis: Redis;
  private readonly process = randomUUID();
  private readonly accounts = new Map<AccountId, AccountState>();
  private readonly leaving = new Set<Leaving>();
  private readonly leaseMs: number;
  private readonly renewal: NodeJS.Timeout;
  private isRenewing = false;

  constructor(private readonly settings: QueueSharesSettings) {
    this.redis = openRedis(settings.url, settings.commandTimeoutMs ?? usualCommandTimeoutMs);
    this.redis.on('error', () => undefined); // the queues' connection to the same server logs it
    this.leaseMs = settings.leaseMs ?? 30_000;
    this.renewal = setInterval(() => void this.renewAll(), this.leaseMs / 6).unref();
  }

  /** Resolves when Redis answers. */
  async ping(): Promise<void> {
    if (this.redis.status !== 'ready') await new Promise((resolve) => this.redis.once('ready', resolve));
    await this.redis.ping();
  }

  /** Resolves when the call may be sent, the longest waiting one first; to undefined if `signal` aborts before. */
  async enter(call: QueuedCall, signal: AbortSignal): Promise<HeldShare | undefined> {
    if (signal.aborted) return undefined;
    const account = this.findState(call.account);
    if (account.waiting.size === 0 && account.used + call.bytes <= account.held) return this.take(account, call);
    return new Promise((resolve) => {
      const leave = () => waiter.admit(undefined);
      const waiter: Waiter = {
        ...call,
        admit: (share) => {
          signal.removeEventListener('abort', leave);
          account.waiting.delete(waiter);
          account.wake();
          resolve(share);
        },
      };
      account.waiting.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
      void this.serve(account);
    });
  }

  /** Counts a call that is in the queue already, because another process has sent it. It does not wait. */
  hold(call: QueuedCall): HeldShare {
    const account = this.findState(call.account);
    const share = this.take(account, call);
    if (account.used > account.held) {
      account.held = account.used;
      void this.renew(call.account, account);
    }
    return share;
  }

  /** The bytes that an account holds over all processes, and those of its runs that wait for more; at most 100 of a process. */
  async read(account: AccountId): Promise<{ readonly bytes: number; readonly waitingRuns: readonly string[] }> {
    const live = liveEntries.parse(await this.redis.eval(readScript, 1, this.createKey(account)));
    return {
      bytes: live.reduce((sum, { bytes }) => sum + bytes, 0),
      waitingRuns: live.flatMap(({ runs }) => runs ?? []),
    };
  }

  /** What this process holds expires, because its calls may still be in the queue. */
  close(): void {
    clearInterval(this.renewal);
    this.redis.disconnect();
  }

  private findState(id: AccountId): AccountState {
    const known = this.accounts.get(id);
    if (known) return known;
    const account: AccountState = { held: 0, used: 0, waiting: new Set(), isServing: false, wake: () => undefined };
    this.accounts.set(id, account);
    return account;
  }

  private take(account: AccountState, { account: id, bytes }: QueuedCall): HeldShare {
    account.used += bytes;
    let isHeld = true;
    const giveBack = () => {
      if (!isHeld) return;
      isHeld = false;
      account.used -= bytes;
      if (account.held - account.used >= promptBytes) void this.renew(id, account);
      account.wake();
    };
    const share: HeldShare = { giveBack, giveBackWhen: (isGone) => this.leaving.add({ share, isGone }) };
    return share;
  }

  /** Admits one call after the other, as long as calls wait. */
  private async serve(account: AccountState): Promise<void> {
    if (account.isServing) return;
    account.isServing = true;
    for (let [first] = account.waiting; first; [first] = account.waiting) {
      const fits = account.used + first.bytes <= account.held || (await this.raise(account, first));
      if (!account.waiting.has(first)) continue; // its signal has aborted
      if (fits) first.admit(this.take(account, first));
      else await this.nextChance(account);
    }
    account.isServing = false;
  }

  private async nextChance(account: AccountState): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      account.wake = resolve;
      timer = setTimeout(resolve, this.settings.retryMs ?? 500).unref();
    });
    clearTimeout(timer);
    account.wake = () => undefined;
  }

  /** Takes enough of the share for one more call, if it is there. */
  private async raise(account: AccountState, { account: id, bytes }: QueuedCall): Promise<boolean> {
    const limit = (await this.settings.readLimit?.(id).catch(() => undefined)) ?? usualQueueShare;
    const least = account.used + bytes;
    const runs = [...new Set([...account.waiting].map(({ runId }) => runId))].slice(0, shownRuns);
    const numbers = [this.leaseMs, limit, account.used, least, inBlocks(least), bytes];
    const granted = await this.run(id, raiseScript, [...numbers, ...runs]);
    if (granted === 0) return false;
    account.held = Math.max(account.held, typeof granted === 'number' ? granted : least);
    return true;
  }

  /** Also looks which calls have left the queue. */
  private async renewAll(): Promise<void> {
    if (this.isRenewing) return;
    this.isRenewing = true;
    for (const leaving of this.leaving) {
      if (!(await leaving.isGone().catch(() => false))) continue;
      this.leaving.delete(leaving);
      leaving.share.giveBack();
    }
    for (const [id, account] of this.accounts) {
      await this.renew(id, account);
      if (account.held === 0 && account.waiting.size === 0) this.accounts.delete(id);
    }
    this.isRenewing = false;
  }

  private async renew(id: AccountId, account: AccountState): Promise<void> {
    account.held = Math.min(account.held, inBlocks(account.used));
    await this.run(id, renewScript, [this.leaseMs, account.held]);
  }

  /** Undefined while Redis is away. */
  private async run(id: AccountId, script: string, values: readonly (number | string)[]): Promise<unknown> {
    try {
      return await this.redis.eval(script, 1, this.createKey(id), this.process, ...values);
    } catch {
      return undefined;
    }
  }

  private createKey(account: AccountId): string {
    return `${this.settings.prefix ?? 'rondo:call-bytes'}:${account}`;
  }
}

const inBlocks = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

const liveEntries = z.array(z.string()).transform((texts) => texts.map((text) => entry.parse(JSON.parse(text))));
const entry = z.object({ bytes: z.number(), runs: z.array(z.string()).optional() });

/**
 * The share of an account: a hash with an entry for each process, as JSON: its `bytes`, when the entry `ends`, and where it
 * waits for more how many bytes it `wants`, `since` when, when it last `asked`, and for which `runs`. All times are those of
 * Redis, in milliseconds.
 */
const state = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local key, live = KEYS[1], {}
local entries = redis.call('HGETALL', key)
for i = 1, #entries, 2 do
  local entry = cjson.decode(entries[i + 1])
  if entry.since and now - entry.asked >= ${askedForMs} then entry.since, entry.wants, entry.runs = nil, nil, nil end
  if entry.ends <= now then redis.call('HDEL', key, entries[i]) else live[entries[i]] = entry end
end
local function keep(entry, lease)
  entry.ends = now + lease
  redis.call('HSET', key, ARGV[1], cjson.encode(entry))
  redis.call('PEXPIRE', key, 2 * lease)
end`;

/**
 * Arguments: process, lease, limit, bytes that its calls use, the least and the most bytes that it takes, bytes that it is short
 * of, runs that wait. Returns the bytes that it has now, or 0: then it waits. What processes want that wait longer is left to them.
 */
const raiseScript = `${state}
local lease, limit, used, least, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local since = live[ARGV[1]] and live[ARGV[1]].since or now
local held, ahead = 0, 0
for process, other in pairs(live) do
  if process ~= ARGV[1] then
    held = held + other.bytes
    if other.since and other.since < since then ahead = ahead + other.wants end
  end
end
if held + ahead + used == 0 or held + ahead + least <= limit then
  local granted = held + ahead + most <= limit and most or least
  keep({ bytes = granted }, lease)
  return granted
end
local runs = {}
for i = 8, #ARGV do runs[#runs + 1] = ARGV[i] end
keep({ bytes = used, wants = tonumber(ARGV[7]), since = since, asked = now, runs = runs }, lease)
return 0`;

/** Arguments: process, lease, bytes that it has now. */
const renewScript = `${state}
local own = live[ARGV[1]] or {}
own.bytes = tonumber(ARGV[3])
if own.bytes == 0 and not own.since then return redis.call('HDEL', key, ARGV[1]) end
keep(own, tonumber(ARGV[2]))
return 0`;

/** Returns the entries. */
const readScript = `${state}
local found = {}
for _, entry in pairs(live) do found[#found + 1] = cjson.encode(entry) end
return found`;
