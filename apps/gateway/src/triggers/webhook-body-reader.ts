import type { Request } from 'express';
import type { Authenticator } from '../auth/authenticator';
import type { MemoryBudget } from '../auth/memory-budget';
import type { RateLimiter } from '../auth/rate-limiter';
import { readBytes, expectBytes, hasBody, requireJson } from '../http/body';

export interface WebhookBodyReaderDependencies {
  readonly authenticator: Pick<Authenticator, 'readAddress'>;
  /** Per address. */
  readonly rate: RateLimiter;
  readonly memory: Pick<MemoryBudget, 'acquire'>;
}

/** The longest body of a webhook. */
const limitBytes = 256 * 1024;

/** Reads the bodies of senders that have proven nothing yet: few at a time of each address, and short ones. */
export class WebhookBodyReader {
  constructor(private readonly dependencies: WebhookBodyReaderDependencies) {}

  async read(request: Request): Promise<Buffer> {
    const { authenticator, rate, memory } = this.dependencies;
    const address = authenticator.readAddress(request);
    rate.consume(address);
    if (!hasBody(request)) return Buffer.alloc(0);
    requireJson(request);
    const release = memory.acquire(`webhooks of ${address}`, expectBytes(request, limitBytes));
    try {
      return await readBytes(request, limitBytes);
    } finally {
      release();
    }
  }
}
