import { createHash } from 'node:crypto';
import type { RecordedFact } from '@rondo/domain';

/**
 * What a log is, in few words: two readers with the same hash have the same log. The hash of an event is the SHA-256 of
 * the hash before it (64 hex digits, none before the first) and the event's JSON as the API gives it.
 */
export interface LogVerification {
  readonly first: number | null;
  readonly last: number | null;
  readonly count: number;
  readonly contiguous: boolean;
  readonly hash: string;
}

const nothing: LogVerification = { first: null, last: null, count: 0, contiguous: true, hash: '' };

/** `pages` give the log from its beginning, in order. */
export async function verifyLog(pages: AsyncIterable<readonly RecordedFact[]>): Promise<LogVerification> {
  let log = nothing;
  for await (const page of pages) log = page.reduce(withFact, log);
  return log;
}

const withFact = ({ first, count, contiguous, hash }: LogVerification, fact: RecordedFact): LogVerification => ({
  first: first ?? fact.seq,
  last: fact.seq,
  count: count + 1,
  contiguous: contiguous && fact.seq === count + 1,
  hash: createHash('sha256').update(hash).update(JSON.stringify(fact)).digest('hex'),
});
