import type { IdempotencyKeys, IdempotentRequest, StoredResponse } from '@rondo/persistence';
import { Refusal, tryAgainIn } from '../problems/refusals';

/**
 * The answer that a request got before; undefined where this is the first, which is then to be done. Rejects with
 * `idempotency_in_flight` and `idempotency_key_reused`.
 */
export async function firstAnswer(
  keys: Pick<IdempotencyKeys, 'begin'>,
  request: IdempotentRequest,
): Promise<StoredResponse | undefined> {
  const earlier = await keys.begin(request);
  switch (earlier.verdict) {
    case 'fresh':
      return undefined;
    case 'in_flight':
      throw new Refusal('idempotency_in_flight', 'The first request with this key is not answered yet.', tryAgainIn(1));
    case 'reused':
      throw new Refusal('idempotency_key_reused', 'This key was used for another request.');
    case 'replay':
      return earlier.response;
  }
}
