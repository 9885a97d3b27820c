import { createHash } from 'node:crypto';

export interface EffectRequest {
  /** What the effect is about; the same for every request of one call. */
  readonly tag: string;
  readonly key: string | undefined;
  readonly bodyHash: string;
  readonly at: number;
  /** False when the key was known, and so nothing was done again. */
  readonly applied: boolean;
}

/** Every request that reached the effect server, and which of them took effect. */
export class EffectLedger {
  readonly requests: EffectRequest[] = [];
  private readonly keys = new Set<string>();

  /** A server that honours keys does nothing for a key that it knows. */
  receive({
    tag,
    key,
    body,
    honoursKeys,
  }: {
    tag: string;
    key: string | undefined;
    body: string;
    honoursKeys: boolean;
  }): EffectRequest {
    const isKnown = honoursKeys && key !== undefined && this.keys.has(key);
    if (honoursKeys && key !== undefined) this.keys.add(key);
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const request = { tag, key, bodyHash, at: Date.now(), applied: !isKnown };
    this.requests.push(request);
    return request;
  }

  /** How often each effect was applied. */
  applied(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { tag, applied } of this.requests) counts.set(tag, (counts.get(tag) ?? 0) + (applied ? 1 : 0));
    return counts;
  }
}
