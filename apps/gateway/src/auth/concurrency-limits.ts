import type { Caller } from '@rondo/persistence';
import type { GatewayConfig } from '../config';
import { ApiError, retryAfter } from '../problems/api-error';
import type { ProblemCode } from '@rondo/contract/api';
import { toClientName } from './client-access';
import { type MemoryBudget, createMemoryBudget, memoryPer } from './memory-budget';

const retryAfterS = 1;

/** A browser has about one for each of its tabs. */
const connectionsPerClient = 32;

/** How much of something each holder, for example an account, may use at a time. */
export class ConcurrencyLimit {
  private readonly used = new Map<string, number>();

  constructor(
    private readonly limit: number,
    private readonly refusal: { readonly code: ProblemCode; readonly detail: string },
  ) {}

  isFull(holder: string): boolean {
    return (this.used.get(holder) ?? 0) >= this.limit;
  }

  /** Returns the function that releases it, which may be called twice. Throws where the limit is reached. */
  acquire(holder: string, amount = 1): () => void {
    const used = this.used.get(holder) ?? 0;
    if (used + amount > this.limit) {
      throw new ApiError(this.refusal.code, this.refusal.detail, retryAfter(retryAfterS));
    }
    this.used.set(holder, used + amount);
    let isAcquired = true;
    return () => {
      if (isAcquired) this.release(holder, amount);
      isAcquired = false;
    };
  }

  private release(holder: string, amount: number): void {
    const left = (this.used.get(holder) ?? 0) - amount;
    if (left > 0) this.used.set(holder, left);
    else this.used.delete(holder);
  }
}

const connections = (limit: number, what: string) =>
  new ConcurrencyLimit(limit, {
    code: 'too_many_connections',
    detail: `An account can have ${limit} ${what} open at a time on one gateway.`,
  });

/** What one account, over all its keys, or one address without a key may use of this process at a time. */
export class ConcurrencyLimits {
  readonly streams: ConcurrencyLimit;
  readonly waits: ConcurrencyLimit;
  /** Per address. */
  readonly unauthenticatedSockets: ConcurrencyLimit;
  readonly memory: MemoryBudget;
  private readonly sockets: ConcurrencyLimit;
  /** Sockets, streams and waits of one person, or one thread, so that none uses up what the account has for all. */
  private readonly clients = new ConcurrencyLimit(connectionsPerClient, {
    code: 'too_many_connections',
    detail: `A client can have ${connectionsPerClient} connections open at a time on one gateway.`,
  });

  constructor(config: GatewayConfig) {
    this.sockets = connections(config.SOCKETS_PER_ACCOUNT, 'sockets');
    this.streams = connections(config.STREAMS_PER_ACCOUNT, 'event streams');
    this.waits = connections(config.WAITS_PER_ACCOUNT, 'waits');
    this.unauthenticatedSockets = new ConcurrencyLimit(Math.ceil(2 * config.HANDSHAKES_PER_SECOND), {
      code: 'too_many_connections',
      detail: 'Too many connections of this address have sent no key yet.',
    });
    this.memory = createMemoryBudget(config);
  }

  /** A connection of a client token; nothing of other callers. Returns the function that releases it. Throws where the limit is reached. */
  acquireClient(caller: Caller): () => void {
    return caller.client ? this.clients.acquire(toClientName(caller)) : () => undefined;
  }

  /** A place and the memory of a socket. Returns the function that releases them, which may be called twice. Throws where a limit is reached. */
  acquireSocket(caller: Caller): () => void {
    const { accountId } = caller;
    const releases = [this.acquireClient(caller)];
    const release = () => releases.forEach((give) => give());
    try {
      releases.push(this.sockets.acquire(accountId));
      releases.push(this.memory.acquire(accountId, memoryPer.socket));
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }
}
