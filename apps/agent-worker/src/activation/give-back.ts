import type { Claim, RunStore } from '@rondo/domain';
import { setTimeout as sleep } from 'node:timers/promises';

const attempts = 20;
const againMs = 250;

interface GivingParts {
  readonly store: Pick<RunStore, 'handOver'>;
  readonly passes: (error: unknown) => boolean;
}

/** Through a short outage, so that the run need not wait for its lease to run out. The epoch makes it safe to repeat. */
export async function giveBack(claim: Claim, how: { broke: boolean }, { store, passes }: GivingParts): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await store.handOver(claim, how);
      return;
    } catch (error) {
      if (attempt === attempts || !passes(error)) throw error;
      await sleep(againMs);
    }
  }
}
