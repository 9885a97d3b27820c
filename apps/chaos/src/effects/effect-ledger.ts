import { createHash } from 'node:crypto';

export interface EffectRequest {
  /** Identifies the call; the same in each of its requests. */
  readonly tag: string;
  readonly key: string | undefined;
  readonly bodyHash: string;
  /** The header `Authorization`. */
  readonly credentials: string | undefined;
  readonly at: number;
  /** False when the key was known and the effect therefore not applied again. */
  readonly applied: boolean;
}

interface ReceivedRequest extends Pick<EffectRequest, 'tag' | 'key' | 'credentials'> {
  readonly body: string;
  readonly honoursKeys: boolean;
}

/** Every request that the effect server received, and whether it was applied. */
export class EffectLedger {
  readonly requests: EffectRequest[] = [];
  private readonly keys = new Set<string>();

  /** Applies the effect unless its idempotency key is known. */
  receive({ tag, key, body, credentials, honoursKeys }: ReceivedRequest): EffectRequest {
    const isKnown = honoursKeys && key !== undefined && this.keys.has(key);
    if (honoursKeys && key !== undefined) this.keys.add(key);
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const request = { tag, key, bodyHash, credentials, at: Date.now(), applied: !isKnown };
    this.requests.push(request);
    return request;
  }

  /** How often each effect was applied. */
  countEffects(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { tag, applied } of this.requests) counts.set(tag, (counts.get(tag) ?? 0) + (applied ? 1 : 0));
    return counts;
  }
}
