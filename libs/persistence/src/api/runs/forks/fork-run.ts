import {
  type ForkOrigin,
  type InputBlock,
  type NewFact,
  type NewId,
  type RecordedFact,
  type Run,
  type RunId,
  type RunSettings,
  type ThreadId,
  runId,
  threadId,
} from '@rondo/contract';
import { type ForkPoint, TerminalError, forkPoint, noteOfFork, noteOfForkWithFiles } from '@rondo/domain';
import type { Sql } from '../../../database/sql';
import { activateRun } from '../../../database/run-activation';
import { writeFacts } from '../../../run-log/group-commit';
import { type RunRow, toFact, toRun, factRow, runRow } from '../../../run-log/run-row';
import { referToImages, storeImages } from '../../blobs/message-images';
import { type QuotaBounds, writeWithin } from '../../billing/quota-bounds';
import { type PendingKey, storeResponse } from '../../idempotency-keys';
import { hostWorkspace } from '../../sandboxes';
import type { RunMaker } from '../create-run';
import { type KeptFiles, rewindingFact } from '../insert-run';
import { inputFact } from '../input-message';
import { type RunAddress, readRun, runNotFound } from '../lock-run';
import { visibleRun } from '../read-runs';
import { chainHash } from '../verify-log';
import { type SharedRows, copyRows, insertFork, readSharedRows } from './copy-rows';
import { ForkIds } from './fork-ids';
import { z } from 'zod';
import { createQuery } from '../../../database/checked-query';

/** A run that begins with the log of another one. */
export interface ForkOrder extends RunAddress {
  /** The last fact to share. */
  readonly atSeq: number;
  readonly input?: readonly InputBlock[] | undefined;
  /** Of the fork. */
  readonly settings: RunSettings;
  /** Given by a caller that must know it before the fork exists. */
  readonly id?: RunId | undefined;
  /** Of a fork that is traced. */
  readonly traceId?: string | undefined;
  /** The key, or the user of an outside issuer, that starts it. */
  readonly createdBy?: string | undefined;
  readonly promised?: PendingKey<Run> | undefined;
  /** The files that its workspace begins with, on the executor that has kept them. Absent: none. */
  readonly rewind?: KeptFiles | undefined;
  /** Rejects with QuotaReached. */
  readonly bounds?: QuotaBounds | undefined;
}

export interface ForkedRun {
  readonly run: Run;
  /** Committed facts to publish. */
  readonly facts: readonly RecordedFact[];
}

type Forking = Pick<RunMaker, 'database' | 'newId'>;

const trimmedColumns = z.object({ events_trimmed_through: z.number() });
const forkedRun = createQuery(runRow.and(trimmedColumns), visibleRun.text);

/** Longer logs are not copied in one transaction. */
const longestLog = { facts: 20_000, bytes: 64 * 1024 * 1024 };

/**
 * Copies the facts up to a place between two iterations, with the messages and the answered calls of them, under new ids, to a
 * new run on a new thread. Facts never change, so the origin is not locked and may be at work.
 */
export const forkRun = ({ database, newId }: Forking, order: ForkOrder): Promise<ForkedRun> =>
  database.transaction((sql) => writeWithin(sql, order, () => writeFork(sql, newId, order)));

async function writeFork(sql: Sql, newId: NewId, order: ForkOrder): Promise<ForkedRun> {
  const { row, log, point } = await readForkPoint(sql, order);
  if (point.needsInput && order.input === undefined) throw needsInput(order.runId, point);

  const id = order.id ?? runId.parse(`run_${newId()}`);
  const thread = threadId.parse(`thr_${newId()}`);
  const shared = await readSharedRows(sql, row, log.slice(0, point.seq));
  const hash = log.slice(0, point.seq).reduce((before, fact) => chainHash(before, fact), '');
  const origin = { run_id: order.runId, seq: point.seq, hash };
  const { settings, traceId, createdBy } = order;
  const target = { runId: id, threadId: thread, epoch: toEpoch(log, point.seq) };
  await insertFork(sql, row, {
    ...target,
    settings,
    traceId,
    createdBy,
    point,
    origin,
    messages: shared.messages.json,
  });
  const given = [
    [row.id, id],
    [row.thread_id, thread],
  ] as const;
  const ids = new ForkIds(new Map<string, string>(given), newId);
  await copyRows(sql, shared, { ...target, from: row, ids, hasFiles: order.rewind !== undefined });

  if (order.rewind) await hostWorkspace(sql, newId, { threadId: thread, executorId: order.rewind.executorId });
  const model = settings.model === row.model ? undefined : settings.model;
  const told = await beginning(sql, newId, { order, origin, point, target, shared, model });
  const facts = await writeFacts(sql, target, { facts: told, newId });
  await activateRun(sql, id);
  const run = await storeResponse(sql, order.promised, toRun(await readRun(sql, id)));
  return { run, facts };
}

export async function readForkPoint(sql: Sql, { runId: id, accountId, atSeq }: RunAddress & Pick<ForkOrder, 'atSeq'>) {
  const [row] = await forkedRun.all(sql, [id, accountId]);
  if (!row) throw runNotFound(id);
  if (atSeq > row.last_seq) throw new UnknownSeqError(row.last_seq);
  const log = await readLog(sql, row, atSeq);
  return { row, log, point: forkPoint(log, atSeq) };
}

/** The log does not reach that far. */
export class UnknownSeqError extends TerminalError {
  override readonly name = 'UnknownSeqError';
  readonly field = 'at_seq';

  constructor(lastSeq: number) {
    super('unknown_seq', `must be at most ${lastSeq}, the last fact of the run`);
  }
}

const sizeOfLog = createQuery(
  z.object({ facts: z.number(), bytes: z.number() }),
  `
select count(*)::int as facts, coalesce(sum(octet_length(data::text)), 0)::float8 as bytes
from run_events where run_id = $1 and seq <= $2`,
);

const factsOfLog = createQuery(
  factRow,
  `
select id, seq, type, run_id, $3 as thread_id, iteration, epoch, at, data from run_events
where run_id = $1 and seq <= $2 order by seq`,
);

async function readLog(
  sql: Sql,
  row: RunRow & z.infer<typeof trimmedColumns>,
  atSeq: number,
): Promise<readonly RecordedFact[]> {
  if (row.events_trimmed_through > 0) throw logTrimmed(row.id);
  const size = await sizeOfLog.first(sql, [row.id, atSeq]);
  if (!size || size.facts > longestLog.facts || size.bytes > longestLog.bytes)
    throw new TerminalError('log_too_long', `The log of ${row.id} up to seq ${atSeq} is too long to be forked.`);
  const log = (await factsOfLog.all(sql, [row.id, atSeq, row.thread_id])).map(toFact);
  if (log.length < atSeq) throw logTrimmed(row.id); // since the row was read
  return log;
}

const logTrimmed = (id: RunId): TerminalError =>
  new TerminalError('log_trimmed', `The first facts of ${id} were deleted by retention, so it cannot be forked.`);

const toEpoch = (log: readonly RecordedFact[], seq: number): number =>
  log.reduce((highest, fact) => (fact.seq <= seq ? Math.max(highest, fact.epoch) : highest), 0);

const needsInput = (id: RunId, { seq }: ForkPoint): TerminalError =>
  new TerminalError(
    'fork_needs_input',
    `At seq ${seq} of ${id} the model has said its last word: give an input to go on.`,
  );

interface Beginning {
  readonly order: ForkOrder;
  readonly origin: ForkOrigin;
  readonly point: ForkPoint;
  readonly target: { readonly runId: RunId; readonly threadId: ThreadId };
  readonly shared: SharedRows;
  /** Where it is another one than that of the origin. */
  readonly model: string | undefined;
}

/** The first facts of its own: where it comes from, and what is said to it. */
async function beginning(sql: Sql, newId: () => string, parts: Beginning): Promise<NewFact[]> {
  const { order, origin, point, target, shared, model } = parts;
  const { accountId, atSeq } = order;
  const { iteration } = point.state;
  const forked: NewFact = {
    type: 'run.forked',
    iteration,
    data: {
      ...origin,
      requested_seq: atSeq,
      cut_back: point.cutBack,
      paused_since: shared.lastFactAt,
      ...(model !== undefined && { model }),
      workspace: 'empty',
    },
  };
  const said = { ...target, iteration, metadata: { forked_from: origin.run_id } };
  const facts: NewFact[] = [forked, ...(order.rewind ? [rewindingFact(order.rewind, iteration)] : [])];
  if (order.input !== undefined) {
    const content = await storeImages(sql, { accountId, content: order.input, field: 'input' });
    await referToImages(sql, { accountId, threadId: target.threadId }, content);
    facts.push(inputFact({ ...said, content }, newId));
  }
  return shared.usedTools
    ? [...facts, inputFact({ ...said, ...noteFor(origin, order.rewind !== undefined) }, newId)]
    : facts;
}

/** A message of its own: it is not what the person said. */
const noteFor = ({ run_id }: ForkOrigin, hasFiles: boolean) => ({
  content: [{ type: 'text' as const, text: hasFiles ? noteOfForkWithFiles : noteOfFork }],
  metadata: { forked_from: run_id, kind: 'fork_note' },
});
