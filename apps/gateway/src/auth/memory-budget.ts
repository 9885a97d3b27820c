import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { GatewayConfig } from '../config';
import { ApiError, retryAfter } from '../problems/api-error';

const retryAfterS = 1;

/** About what these take, measured. */
export const memoryPer = { socket: 40 * 1024, subscription: 20 * 1024 } as const;

/**
 * The bytes that this process holds for its clients: requests that are being read or answered, messages that have not arrived
 * whole, sockets and subscriptions. An account may hold half of what the others leave, so that no number of its keys
 * leaves nothing for another one, and one that is alone is not held up by a share that is not used.
 */
export class MemoryBudget {
  private readonly held = new Map<string, number>();
  private total = 0;

  constructor(private readonly bytes: number) {}

  /** Returns the function that releases it, which may be called twice. Throws `too_many_bytes_in_flight`. */
  acquire(account: string, bytes: number): () => void {
    if (!this.take(account, bytes)) {
      const detail =
        'This gateway holds as many bytes as it can for the requests, sockets and subscriptions of your account.';
      throw new ApiError('too_many_bytes_in_flight', detail, retryAfter(retryAfterS));
    }
    let isHeld = true;
    return () => {
      if (isHeld) this.give(account, bytes);
      isHeld = false;
    };
  }

  /** False where they do not fit. Otherwise the account holds them until `give`. */
  take(account: string, bytes: number): boolean {
    const own = this.held.get(account) ?? 0;
    if (own + bytes > (this.bytes - (this.total - own)) / 2) return false;
    this.held.set(account, own + bytes);
    this.total += bytes;
    return true;
  }

  give(account: string, bytes: number): void {
    const left = (this.held.get(account) ?? 0) - bytes;
    if (left > 0) this.held.set(account, left);
    else this.held.delete(account);
    this.total -= bytes;
  }
}

/** What one connection holds for its account at the moment. */
export class Holding {
  private bytes = 0;

  constructor(
    private readonly budget: Pick<MemoryBudget, 'take' | 'give'>,
    private readonly account: string,
  ) {}

  /** False where it does not fit. */
  take(bytes: number): boolean {
    if (!this.budget.take(this.account, bytes)) return false;
    this.bytes += bytes;
    return true;
  }

  /** Gives back what is more than this. */
  keep(bytes = 0): void {
    if (this.bytes <= bytes) return;
    this.budget.give(this.account, this.bytes - bytes);
    this.bytes = bytes;
  }
}

/** An account that holds nothing can always send one request of the longest kind while the others hold nothing. */
export const createMemoryBudget = ({ MEMORY_BUDGET_BYTES, BODY_LIMIT_BYTES }: GatewayConfig): MemoryBudget =>
  new MemoryBudget(Math.max(MEMORY_BUDGET_BYTES ?? usableMemory() / 2, 2 * BODY_LIMIT_BYTES));

/** What this process may use at most: the limit of its control group, of its heap, or the machine's memory. */
function usableMemory(): number {
  const constrained = process.constrainedMemory(); // 0 or more than there is where there is no limit
  return Math.min(totalmem(), getHeapStatistics().heap_size_limit, constrained > 0 ? constrained : Infinity);
}
