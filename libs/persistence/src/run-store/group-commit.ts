import { ClaimLostError, type RecordedFact, type RunId, StopPendingError } from '@rondo/domain';
import type { Sql } from '../sql';
import { wasRefused } from '../sql-error';
import { appendValues } from './append-rows';
import { type Written, appendStatement } from './append-statement';
import { type Batch, recordedFacts } from './batch';

/** Bounds one statement; what is above it goes with the next. */
const maxGroup = 64;

interface Waiting {
  readonly batch: Batch;
  readonly resolve: (facts: readonly RecordedFact[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes batches as they come. Those that arrive while a statement is under way leave together in the next one, so a
 * busy worker pays for one commit where many runs write, and a quiet one never waits.
 */
export class GroupCommit {
  private queue: Waiting[] = [];
  private writing = false;

  constructor(private readonly sql: Sql) {}

  write(batch: Batch): Promise<readonly RecordedFact[]> {
    return new Promise((resolve, reject) => {
      this.queue.push({ batch, resolve, reject });
      if (!this.writing) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.writing = true;
    while (this.queue.length > 0) await this.writeGroup(this.nextGroup());
    this.writing = false;
  }

  /** In order of arrival, at most one batch of each run: a run's batches follow one another. */
  private nextGroup(): Waiting[] {
    const runs = new Set<RunId>();
    const group: Waiting[] = [];
    const later: Waiting[] = [];
    for (const waiting of this.queue) {
      const { runId } = waiting.batch.claim;
      if (group.length < maxGroup && !runs.has(runId)) group.push(waiting);
      else later.push(waiting);
      runs.add(runId);
    }
    this.queue = later;
    return group;
  }

  /** One batch that Postgres refuses must not cost the others theirs: each then goes alone. */
  private async writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const batches = group.map(({ batch }) => batch);
      const written = await writeBatches(this.sql, batches);
      for (const [index, waiting] of group.entries()) {
        const facts = written[index];
        if (facts) waiting.resolve(facts);
        else waiting.reject(await refusalOf(this.sql, waiting.batch));
      }
    } catch (error) {
      if (group.length > 1 && wasRefused(error)) for (const waiting of group) await this.writeGroup([waiting]);
      else for (const { reject } of group) reject(error);
    }
  }
}

/** The facts of each batch that was accepted. At most one batch per run. */
async function writeBatches(sql: Sql, group: readonly Batch[]): Promise<(readonly RecordedFact[] | undefined)[]> {
  const places = new Map<number, Written>();
  for (const written of await sql.query<Written>(appendStatement, appendValues(group)))
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

async function refusalOf(sql: Sql, { claim }: Batch): Promise<ClaimLostError | StopPendingError> {
  const { runId, epoch } = claim;
  const [told] = await sql.query<{ stop_requested_at: Date; stop_reason: string | null }>(stopOfHeldRun, [
    runId,
    epoch,
  ]);
  return told
    ? new StopPendingError(runId, { requestedAt: told.stop_requested_at.toISOString(), reason: told.stop_reason })
    : new ClaimLostError(runId);
}

/** Writes one batch within a transaction that has locked the run. */
export async function writeBatch(sql: Sql, batch: Batch): Promise<readonly RecordedFact[]> {
  const [written] = await writeBatches(sql, [batch]);
  if (!written) throw await refusalOf(sql, batch);
  return written;
}
