import type { RecordedFact } from '@rondo/contract';
import { RunChangedError, type Claim, ClaimLostError, type PriceFactors, StopPendingError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../database/checked-query';
import type { Sql } from '../database/sql';
import { StatementBatcher } from '../database/statement-batcher';
import { appendValues } from './append-rows';
import { type AppendOutcome, appendStatement, settlingAppendStatement } from './append-statement';
import { type Batch, type LogEnd, type NewFacts, measureLength, toRecordedFacts, toBatch, toLogEnd } from './batch';
import { type StopColumns, readStop } from './run-row';

/**
 * Group commit: batches that arrive while a statement is running are written together by the next one. A busy worker
 * pays one commit for many runs; an idle one writes at once. Batches of one run are written in order.
 */
export class GroupCommit {
  private readonly batches: StatementBatcher<Batch, Written | undefined>;
  private readonly writeGroup: (sql: Sql, group: readonly Batch[]) => Promise<(Written | undefined)[]>;
  /** Where the log of each claim ends, once what was appended to it so far is written. */
  private readonly ends = new WeakMap<Claim, Promise<LogEnd | undefined>>();

  constructor(
    private readonly sql: Sql,
    { settlesAt }: { settlesAt?: PriceFactors | undefined } = {},
  ) {
    const factorsFor = (group: readonly Batch[]) => (group.some(settlesCalls) ? settlesAt : undefined);
    this.writeGroup = (on, group) => writeBatches(on, group, factorsFor(group));
    this.batches = new StatementBatcher((group) => this.writeGroup(sql, group), {
      toSubject: ({ claim }) => claim.runId,
      weigh: measureLength,
      startsAtOnce: true,
    });
  }

  append(claim: Claim, written: NewFacts, write: BatchWriter = (batch) => this.batches.of(batch)): Promise<Written> {
    const before = this.ends.get(claim) ?? Promise.resolve(toLogEnd(claim));
    const appended = before.then((end) => this.appendAfter(end, { claim, written, write }));
    this.ends.set(
      claim,
      appended.then(
        ({ facts }) => facts.at(-1),
        () => before,
      ),
    );
    return appended;
  }

  /** Writes one batch in a transaction of the caller. */
  async writeIn(sql: Sql, batch: Batch): Promise<Written | undefined> {
    return (await this.writeGroup(sql, [batch]))[0];
  }

  /** Where another process has written meanwhile, as a gateway that was told to stop the run, they are dated anew. */
  private async appendAfter(
    end: LogEnd | undefined,
    { claim, written, write }: { claim: Claim; written: NewFacts; write: BatchWriter },
  ): Promise<Written> {
    for (let known = end; ;) {
      const batch = toBatch(claim, written, known);
      const appended = await write(batch);
      if (appended) return appended;
      known = await readEnd(this.sql, batch);
    }
  }
}

/** Undefined for a batch that was refused. */
type BatchWriter = (batch: Batch) => Promise<Written | undefined>;

/** What became of a batch. */
export interface Written {
  readonly facts: readonly RecordedFact[];
  /** The run has ended, and another one is queued on its thread. */
  readonly isAwaited: boolean;
}

/** Undefined for a refused batch. The group holds at most one batch per run. */
async function writeBatches(
  sql: Sql,
  group: readonly Batch[],
  settlesAt?: PriceFactors,
): Promise<(Written | undefined)[]> {
  const outcomes = new Map<number, AppendOutcome>();
  const rows = appendValues(group);
  const written = settlesAt
    ? await sql.query<AppendOutcome>(settlingAppendStatement, [...rows, JSON.stringify(settlesAt)])
    : await sql.query<AppendOutcome>(appendStatement, rows);
  for (const outcome of written) outcomes.set(outcome.number, outcome);
  return group.map((batch, index) => {
    const outcome = outcomes.get(index + 1);
    if (!outcome) return undefined;
    const facts = toRecordedFacts(batch, { lastSeq: outcome.last_seq, lastMessageSeq: outcome.last_message_seq });
    return { facts, isAwaited: outcome.is_awaited };
  });
}

/** A model call was recorded, or there can be none after it. */
const settlesCalls = ({ facts, changes: { terminal, waiting } }: Batch): boolean =>
  terminal || waiting !== null || facts.some(({ fact }) => fact.type === 'usage.recorded');

/**
 * If the epoch is still the claim's, the batch was refused because it yields to a stop or to a raised budget, or because the log has
 * gone on. None can revert, so reading them afterwards is safe.
 */
const heldRun = `
select stop_requested_at, stop_reason, stop_error, raised_in_epoch = epoch as is_raised, last_seq as seq,
  (select at from run_events where run_id = runs.id and seq = runs.last_seq) as at
from runs where id = $1 and epoch = $2 and status not in ('completed', 'failed', 'stopped')`;

type HeldRow = StopColumns & { is_raised: boolean | null; seq: number; at: Date };

/** The end of the log that a refused batch did not know. Rejects if it was refused for another reason. */
async function readEnd(sql: Sql, { claim, changes }: Batch): Promise<LogEnd> {
  const { runId, epoch } = claim;
  const [row] = await sql.query<HeldRow>(heldRun, [runId, epoch]);
  if (!row) throw new ClaimLostError(runId);
  const stop = readStop(row);
  if (stop && changes.yieldsToStop) throw new StopPendingError(runId, stop);
  if (row.is_raised && changes.yieldsToChange) throw new RunChangedError(runId);
  return { seq: row.seq, at: row.at.toISOString() };
}

const lastTime = createQuery(
  z.object({ at: z.date() }),
  'select at from run_events where run_id = $1 order by seq desc limit 1',
);

/**
 * Writes facts for a process that does not hold the run, in a transaction that has locked it. Their time is not before that of
 * the last fact, which another process may have written by a clock that is ahead.
 */
export async function writeFacts(sql: Sql, claim: Claim, written: NewFacts): Promise<readonly RecordedFact[]> {
  const last = await lastTime.first(sql, [claim.runId]);
  const batch = toBatch(claim, written, last && { seq: undefined, at: last.at.toISOString() });
  const [appended] = await writeBatches(sql, [batch]);
  if (appended) return appended.facts;
  await readEnd(sql, batch);
  throw new ClaimLostError(claim.runId);
}
