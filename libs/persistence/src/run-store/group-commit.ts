import { ClaimLostError, type RecordedFact, type RunId, StopPendingError } from '@rondo/domain';
import type { Sql } from '../sql';
import { wasRefused } from '../sql-error';
import { appendValues } from './append-rows';
import { type Judgement, appendStatement } from './append-statement';
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
      const judged = await writeBatches(
        this.sql,
        group.map(({ batch }) => batch),
      );
      group.forEach((waiting, index) => settle(waiting, judged[index]));
    } catch (error) {
      if (group.length > 1 && wasRefused(error)) for (const waiting of group) await this.writeGroup([waiting]);
      else for (const { reject } of group) reject(error);
    }
  }
}

type Judged = { readonly written: readonly RecordedFact[] } | { readonly refusal: ClaimLostError | StopPendingError };

function settle({ batch, resolve, reject }: Waiting, judged: Judged | undefined): void {
  if (judged && 'written' in judged) resolve(judged.written);
  else reject(judged?.refusal ?? new ClaimLostError(batch.claim.runId));
}

/** Writes what is accepted and says for each batch what came of it. At most one batch per run. */
async function writeBatches(sql: Sql, group: readonly Batch[]): Promise<Judged[]> {
  const judgements = await sql.query<Judgement>(appendStatement, appendValues(group));
  const byRun = new Map(judgements.map((judgement) => [judgement.run_id, judgement]));
  return group.map((batch) => judge(batch, byRun.get(batch.claim.runId)));
}

function judge(batch: Batch, judgement: Judgement | undefined): Judged {
  const { runId } = batch.claim;
  switch (judgement?.verdict) {
    case 'written': {
      const { last_seq: lastSeq, last_message_seq: lastMessageSeq } = judgement;
      return { written: recordedFacts(batch, { lastSeq, lastMessageSeq }) };
    }
    case 'stop_pending': {
      const { told_to_stop_at: requestedAt, told_why: reason } = judgement;
      return { refusal: new StopPendingError(runId, { requestedAt: requestedAt.toISOString(), reason }) };
    }
    case 'lost':
    case undefined:
      return { refusal: new ClaimLostError(runId) };
  }
}

/** Writes one batch within a transaction that has locked the run. */
export async function writeBatch(sql: Sql, batch: Batch): Promise<readonly RecordedFact[]> {
  const judged = judge(batch, (await sql.query<Judgement>(appendStatement, appendValues([batch])))[0]);
  if ('refusal' in judged) throw judged.refusal;
  return judged.written;
}
