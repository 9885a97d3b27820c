import type { Claim, RunStore } from '@rondo/domain';
import { setTimeout as sleep } from 'node:timers/promises';

const maxAttempts = 60;
const retryMs = 250;

export interface HandOverParts {
  readonly store: Pick<RunStore, 'handOver'>;
  readonly isOutage: (error: unknown) => boolean;
}

/** Retries through an outage as long as a lease, as that of a failover, so that the run need not wait until its lease expires. The epoch makes that safe. */
export async function handOver(
  claim: Claim,
  how: { broke: boolean },
  { store, isOutage }: HandOverParts,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await store.handOver(claim, how);
      return;
    } catch (error) {
      if (attempt === maxAttempts || !isOutage(error)) throw error;
      await sleep(retryMs);
    }
  }
}
