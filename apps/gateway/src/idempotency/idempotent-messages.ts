import type { AccountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { IdempotencyKeys, IdempotentRequest, PendingKey } from '@rondo/persistence';
import { z } from 'zod';
import { firstAnswer } from './first-answer';
import { keyPattern, keyRule, requestHash } from './idempotent-request';

export const idempotencyKey = z.string().regex(keyPattern, keyRule).optional();

/** What a message asks for, as the request that does the same over REST. */
export interface AskedBySocket {
  readonly accountId: AccountId;
  readonly key: string | undefined;
  readonly path: string;
  readonly body: unknown;
}

/** What was made now, or what the same request was answered with before. */
export type OnceMade<Made> = { readonly made: Made } | { readonly replayed: unknown };

/**
 * `idempotency_key` of a message: as the header `Idempotency-Key`, of the same store and with the same meaning, so that a
 * message can be sent again over REST.
 */
export class IdempotentMessages {
  constructor(
    private readonly keys: Pick<IdempotencyKeys, 'begin' | 'abandon'>,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  /** `make` keeps the promise in the transaction that makes the thing. */
  async once<Made, Answered>(
    { accountId, key, path, body }: AskedBySocket,
    make: (promised: PendingKey<Answered> | undefined) => Promise<Made>,
    location: (made: Answered) => string | null = () => null,
  ): Promise<OnceMade<Made>> {
    if (key === undefined) return { made: await make(undefined) };
    const request = { accountId, key, requestHash: requestHash({ method: 'POST', path, body }) };
    const earlier = await firstAnswer(this.keys, request);
    if (earlier) return { replayed: earlier.body };
    try {
      const answer = (made: Answered) => ({ status: 202, body: made, location: location(made) });
      return { made: await make({ request, answer }) };
    } catch (error) {
      if (error instanceof TerminalError) await this.letGo(request);
      throw error;
    }
  }

  /** A refusal is not kept, since nothing was done. */
  private async letGo(request: IdempotentRequest): Promise<void> {
    await this.keys.abandon(request).catch(this.onTrouble);
  }
}
