import { createHash } from 'node:crypto';
import { type ForkOrigin, type RecordedFact, toShownEvent } from '@rondo/contract';
import type { RowComparison } from './compare-rows';
import type { LogRewind } from './log-rewinds';
import type { TrimmedLog } from './read-log';

/**
 * A digest of a log: two readers with the same hash have the same log. The hash of an event is the SHA-256 of the previous
 * hash (64 hex digits, empty before the first) and the event's JSON as the API returns it.
 */
export interface LogVerification {
  readonly first: number | null;
  readonly last: number | null;
  /** The number of stored facts. */
  readonly count: number;
  /** The last fact that the run has written: where `last` is another one, facts were removed behind it or added. */
  readonly head_seq: number;
  /** No fact is missing, from the first that was not deleted to `head_seq`, and none was added. */
  readonly contiguous: boolean;
  readonly hash: string;
  /** The chain up to the facts that were deleted; absent if none were. */
  readonly trimmed?: TrimmedLog | undefined;
  /** Where facts may have been lost with the database that was replaced; absent if it was not. */
  readonly rewinds?: readonly LogRewind[];
  /** Where rows that the API shows say something else than the log; absent where none does. */
  readonly differences?: readonly string[];
  /** Of a fork: whether the log of its origin still has that hash there; null if the origin or its facts are gone. */
  readonly forked_from?: ForkOrigin & { readonly holds: boolean | null };
}

const nothing: LogVerification = { first: null, last: null, count: 0, head_seq: 0, contiguous: true, hash: '' };

interface Page {
  readonly epoch: number;
  readonly headSeq: number;
  readonly facts: readonly RecordedFact[];
  readonly trimmed: TrimmedLog | undefined;
}

interface BesideLog {
  readonly rows: Pick<RowComparison, 'add' | 'listDifferences'>;
  /** Called once, for the epoch of the last page. */
  readonly readRewindsAt: (epoch: number) => Promise<readonly LogRewind[]>;
}

/** `pages` are the log in order. If facts were deleted, even meanwhile, it verifies the rest. */
export async function verifyLog(
  pages: AsyncIterable<Page>,
  { rows, readRewindsAt }: BesideLog,
): Promise<LogVerification> {
  let log = nothing;
  let last = 0;
  for await (const { facts, trimmed, epoch, headSeq } of pages) {
    rows.add(facts, { isTrimmed: trimmed !== undefined });
    const before = trimmed ? { ...nothing, hash: trimmed.hash, trimmed } : log;
    log = facts.reduce(withFact, { ...before, head_seq: headSeq });
    last = epoch;
  }
  const contiguous = log.contiguous && (log.last ?? 0) === log.head_seq;
  const rewinds = await readRewindsAt(last);
  const differences = rows.listDifferences();
  return {
    ...{ ...log, contiguous },
    ...(rewinds.length > 0 && { rewinds }),
    ...(differences.length > 0 && { differences }),
  };
}

/** Whether a log has this hash at this fact; null if it is not there or does not have its first facts any more. */
export async function holdsHash(pages: AsyncIterable<Page>, { seq, hash }: ForkOrigin): Promise<boolean | null> {
  let chain = '';
  for await (const { facts, trimmed } of pages) {
    if (trimmed) return null;
    for (const fact of facts) {
      chain = chainHash(chain, fact);
      if (fact.seq === seq) return chain === hash;
    }
  }
  return null;
}

const withFact = (log: LogVerification, fact: RecordedFact): LogVerification => ({
  ...log,
  first: log.first ?? fact.seq,
  last: fact.seq,
  count: log.count + 1,
  contiguous: log.contiguous && fact.seq === (log.trimmed?.through ?? 0) + log.count + 1,
  hash: chainHash(log.hash, fact),
});

/** The hash chain with one more event. */
export const chainHash = (hash: string, fact: RecordedFact): string =>
  createHash('sha256')
    .update(hash)
    .update(JSON.stringify(toShownEvent(fact)))
    .digest('hex');
