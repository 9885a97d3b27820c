import type { NewFact, NewId, RecordedFact } from '@rondo/contract';
import { BudgetRaisedError, type Claim, ClaimLostError, type PriceFactors, StopPendingError } from '@rondo/domain';
import { z } from 'zod';
import { checked } from '../database/checked-query';
import type { Sql } from '../database/sql';
import { StatementBatcher } from '../database/statement-batcher';
import { appendValues } from './append-rows';
import { type AppendOutcome, appendStatement, settlingAppendStatement } from './append-statement';
import { type Batch, measureLength, recordedFacts, toBatch } from './batch';
import { type StopColumns, readStop } from './run-row';

/**
 * Group commit: batches that arrive while a statement is running are written together by the next one. A busy worker
 * pays one commit for many runs; an idle one writes at once. Batches of one run are written in order.
 */
export class GroupCommit {
  private readonly batches: StatementBatcher<Batch, readonly RecordedFact[] | undefined>;

  constructor(
    private readonly sql: Sql,
    { settlesAt }: { settlesAt?: PriceFactors | undefined } = {},
  ) {
    const factorsFor = (group: readonly Batch[]) => (group.some(settlesCalls) ? settlesAt : undefined);
    this.batches = new StatementBatcher((group) => writeBatches(sql, group, factorsFor(group)), {
      toSubject: ({ claim }) => claim.runId,
      weigh: measureLength,
      startsAtOnce: true,
    });
  }

  async write(batch: Batch): Promise<readonly RecordedFact[]> {
    return (await this.batches.of(batch)) ?? refuse(this.sql, batch);
  }
}

/** Returns the facts of each batch, undefined for a refused one. The group holds at most one batch per run. */
async function writeBatches(
  sql: Sql,
  group: readonly Batch[],
  settlesAt?: PriceFactors,
): Promise<(readonly RecordedFact[] | undefined)[]> {
  const outcomes = new Map<number, AppendOutcome>();
  const rows = appendValues(group);
  const written = settlesAt
    ? await sql.query<AppendOutcome>(settlingAppendStatement, [...rows, JSON.stringify(settlesAt)])
    : await sql.query<AppendOutcome>(appendStatement, rows);
  for (const outcome of written) outcomes.set(outcome.number, outcome);
  return group.map((batch, index) => {
    const outcome = outcomes.get(index + 1);
    return outcome && recordedFacts(batch, { lastSeq: outcome.last_seq, lastMessageSeq: outcome.last_message_seq });
  });
}

/** A model call was recorded, or there can be none after it. */
const settlesCalls = ({ facts, changes: { terminal, waiting } }: Batch): boolean =>
  terminal || waiting !== null || facts.some(({ fact }) => fact.type === 'usage.recorded');

/** If the epoch is still the claim's, the batch was refused because of one of these. None can revert, so reading them afterwards is safe. */
const overruledBy = `
select stop_requested_at, stop_reason, stop_error from runs
where id = $1 and epoch = $2 and status not in ('completed', 'failed', 'stopped')
  and (stop_requested_at is not null or raised_in_epoch = epoch)`;

async function refuse(sql: Sql, { claim }: Batch): Promise<never> {
  const { runId, epoch } = claim;
  const [row] = await sql.query<StopColumns>(overruledBy, [runId, epoch]);
  if (!row) throw new ClaimLostError(runId);
  const stop = readStop(row);
  throw stop ? new StopPendingError(runId, stop) : new BudgetRaisedError(runId);
}

const lastTime = checked(
  z.object({ at: z.date() }),
  'select at from run_events where run_id = $1 order by seq desc limit 1',
);

/**
 * Writes facts for a process that does not hold the run, in a transaction that has locked it. Their time is not before that of
 * the last fact, which another process may have written by a clock that is ahead.
 */
export async function writeFacts(
  sql: Sql,
  claim: Claim,
  { facts, newId }: { readonly facts: readonly NewFact[]; readonly newId: NewId },
): Promise<readonly RecordedFact[]> {
  const last = await lastTime.first(sql, [claim.runId]);
  const batch = toBatch({ ...claim, ...(last && { lastAt: last.at.toISOString() }) }, facts, newId);
  const [written] = await writeBatches(sql, [batch]);
  return written ?? refuse(sql, batch);
}
