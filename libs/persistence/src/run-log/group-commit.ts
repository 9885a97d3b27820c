import type { RecordedFact } from '@rondo/contract';
import { ClaimLostError, StopPendingError } from '@rondo/domain';
import type { Sql } from '../database/sql';
import { StatementBatcher } from '../database/statement-batcher';
import { appendValues } from './append-rows';
import { type AppendOutcome, appendStatement } from './append-statement';
import { type Batch, lengthOf, recordedFacts } from './batch';

/**
 * Writes batches as they come. Those that arrive while a statement is under way leave together in the next one, so a
 * busy worker pays for one commit where many runs write, and a quiet one never waits. A run's batches follow one another.
 */
export class GroupCommit {
  private readonly batches: StatementBatcher<Batch, readonly RecordedFact[] | undefined>;

  constructor(private readonly sql: Sql) {
    this.batches = new StatementBatcher((group) => writeBatches(sql, group), {
      subjectOf: ({ claim }) => claim.runId,
      weightOf: lengthOf,
      startsAtOnce: true,
    });
  }

  async write(batch: Batch): Promise<readonly RecordedFact[]> {
    return (await this.batches.of(batch)) ?? refuse(this.sql, batch);
  }
}

/** The facts of each batch that was accepted. At most one batch per run. */
async function writeBatches(sql: Sql, group: readonly Batch[]): Promise<(readonly RecordedFact[] | undefined)[]> {
  const places = new Map<number, AppendOutcome>();
  for (const written of await sql.query<AppendOutcome>(appendStatement, appendValues(group)))
    places.set(written.number, written);
  return group.map((batch, index) => {
    const place = places.get(index + 1);
    return place && recordedFacts(batch, { lastSeq: place.last_seq, lastMessageSeq: place.last_message_seq });
  });
}

/** A run whose holder is still the same refused only what must yield to its stop. Both stay so, whenever one asks. */
const stopOfHeldRun = `
select stop_requested_at, stop_reason from runs
where id = $1 and epoch = $2 and status not in ('completed', 'failed', 'stopped') and stop_requested_at is not null`;

async function refuse(sql: Sql, { claim }: Batch): Promise<never> {
  const { runId, epoch } = claim;
  const [told] = await sql.query<{ stop_requested_at: Date; stop_reason: string | null }>(stopOfHeldRun, [
    runId,
    epoch,
  ]);
  throw told
    ? new StopPendingError(runId, { requestedAt: told.stop_requested_at.toISOString(), reason: told.stop_reason })
    : new ClaimLostError(runId);
}

/** Writes one batch within a transaction that has locked the run. */
export async function writeBatch(sql: Sql, batch: Batch): Promise<readonly RecordedFact[]> {
  const [written] = await writeBatches(sql, [batch]);
  return written ?? refuse(sql, batch);
}
