import type { RunId } from '@rondo/contract';
import {
  ClaimLostError,
  type IdGenerator,
  type LastClaim,
  type LastClaims,
  type RunFeed,
  type RunStore,
  StopPendingError,
  endUnreadableRun,
} from '@rondo/domain';

interface EndingParts {
  readonly owner: string;
  readonly store: Pick<RunStore, 'append'> & LastClaims;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly ids: IdGenerator;
}

/** Ends a run whose log cannot be used, from its rows alone. */
export async function endWithoutLog(id: RunId, parts: EndingParts): Promise<'not due' | 'ended' | 'claim lost'> {
  const claim = await parts.store.claimToEnd(id, parts.owner);
  return claim ? end(claim, parts) : 'not due';
}

async function end(claim: LastClaim, parts: EndingParts): Promise<'ended' | 'claim lost'> {
  const { store, feed, ids } = parts;
  try {
    feed.publish(await store.append(claim, endUnreadableRun(claim, ids)));
    return 'ended';
  } catch (error) {
    if (error instanceof ClaimLostError) return 'claim lost';
    if (error instanceof StopPendingError) return end({ ...claim, stop: error.stop }, parts);
    throw error;
  }
}
