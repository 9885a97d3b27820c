import { type Message, type RecordedFact, type Run, toShownEvent } from '@rondo/contract';
import { type FactRow, type JsonRow, type RunJson, toFact, factOfJson, toRun } from '../../run-log/run-row';
import { withinPage } from '../page';
import type { Sql } from '../../database/sql';
import { type RunAddress, runNotFound } from './lock-run';
import { type LogRewind, type ReadPosition, findLost, readRewinds } from './log-rewinds';
import { type RunHolder, getRun, readLastMessages, visibleRun } from './read-runs';
import { z } from 'zod';
import { anyJson, createQuery, jsonDocument } from '../../database/checked-query';

/** Requested facts that were deleted. */
export interface LogGap {
  readonly from: number;
  readonly to: number;
  readonly reason: 'retention';
}

/** Replaces the facts up to `through_seq`: the run, and the last messages of its dialogue. */
export interface RunSnapshot {
  readonly through_seq: number;
  readonly run: Run;
  readonly messages: readonly Message[];
}

/** It may hold fewer facts than requested. The reader has all of them when it has `head_seq`. */
export interface EventPage {
  readonly data: readonly RecordedFact[];
  /** The last `seq` when it was read. */
  readonly head_seq: number;
  /** Absent if no fact is missing. */
  readonly gap?: LogGap;
  readonly snapshot?: RunSnapshot;
  /** Absent if the database was not replaced while the run was unfinished. */
  readonly rewinds?: readonly LogRewind[];
}

/** How far the facts of a log were deleted, and its hash chain up to there. */
export interface TrimmedLog {
  readonly through: number;
  readonly hash: string;
}

/** Of a `run`, after one. */
const nextFacts = withinPage(
  'select * from run_events where run_events.run_id = run.id and seq > $3 order by seq limit $4',
  { order: 'seq', length: 'octet_length(data::text)' },
);

/** A single row without an event if there is none. */
const eventRow = z.object({
  last_seq: z.number(),
  run_epoch: z.number(),
  events_trimmed_through: z.number(),
  events_trimmed_hash: z.string(),
  run_id: z.string(),
  thread_id: z.string(),
  id: z.string().nullable(),
  seq: z.number().nullable(),
  type: z.string().nullable(),
  iteration: z.number().nullable(),
  epoch: z.number().nullable(),
  at: z.date().nullable(),
  data: anyJson,
});
type EventRow = z.infer<typeof eventRow>;

const isFact = (row: EventRow): row is EventRow & FactRow => row.seq !== null;

/** One statement, so that `head_seq`, the events and the gap are of one moment. */
const eventsAfter = createQuery(
  eventRow,
  `
select run.last_seq, run.epoch as run_epoch, run.events_trimmed_through, run.events_trimmed_hash, run.id as run_id, run.thread_id,
  event.id, seq, event.type, event.iteration, event.epoch, at, data
from (${visibleRun.text}) as run
left join lateral (${nextFacts}) as event on true
order by seq`,
);

interface Reading {
  readonly after: number;
  readonly limit: number;
}

interface LogPage {
  /** As they are stored, with what only a provider may read. */
  readonly facts: readonly RecordedFact[];
  readonly headSeq: number;
  /** That of the run when the page was read. */
  readonly epoch: number;
  /** Set if facts after the requested one are missing. */
  readonly trimmed: TrimmedLog | undefined;
}

async function readPage(sql: Sql, { accountId, runId }: RunAddress, { after, limit }: Reading): Promise<LogPage> {
  const rows = await eventsAfter.all(sql, [runId, accountId, after, limit]);
  const [first] = rows;
  if (!first) throw runNotFound(runId);
  const { last_seq: headSeq, run_epoch: epoch, events_trimmed_through: through, events_trimmed_hash: hash } = first;
  const facts = rows.filter(isFact).map(toFact);
  return { facts, headSeq, epoch, trimmed: after < through ? { through, hash } : undefined };
}

const messagesInSnapshot = 50;

export async function readEvents(sql: Sql, address: RunAddress, reading: Reading): Promise<EventPage> {
  const { facts, headSeq: head_seq, epoch, trimmed } = await readPage(sql, address, reading);
  const rewinds = await readRewinds(sql, { id: address.runId, epoch });
  const page = { data: facts.map(toShownEvent), head_seq, ...(rewinds.length > 0 && { rewinds }) };
  if (!trimmed) return page;

  const run = await getRun(sql, address);
  const messages = await readLastMessages(sql, run, messagesInSnapshot);
  const gap: LogGap = { from: reading.after + 1, to: trimmed.through, reason: 'retention' };
  return { ...page, gap, snapshot: { through_seq: trimmed.through, run, messages } };
}

/** A run, its holder, and its facts after `after`, as of one moment. */
export interface RunOpening {
  readonly run: Run;
  readonly holder: RunHolder | undefined;
  readonly page: EventPage;
  /** The first seq of which the reader has another fact than the log: `page` begins there. */
  readonly lostFrom?: number;
}

const openingRow = z.object({
  run: jsonDocument<RunJson & { readonly events_trimmed_through: number }>(),
  facts: jsonDocument<readonly JsonRow<FactRow, 'at'>[]>(),
});

/** One row of JSON. */
const runWithEvents = createQuery(
  openingRow,
  `
select row_to_json(run) as run, (
  select coalesce(json_agg(event order by seq), '[]')
  from (
    select id, seq, type, run_id, run.thread_id, iteration, epoch, at, data from (${nextFacts}) as fact
  ) as event
) as facts
from (${visibleRun.text}) as run`,
);

/** `position` is what a reader has. Its facts that are not in the log are read anew. */
export async function openRun(
  sql: Sql,
  address: RunAddress,
  { limit, ...position }: ReadPosition & { readonly limit: number },
): Promise<RunOpening> {
  const { epoch, ...opening } = await openAfter(sql, address, { after: position.after, limit });
  const lostFrom = findLost(await readRewinds(sql, { id: address.runId, epoch }), position);
  if (lostFrom === undefined) return opening;
  const { epoch: _, ...anew } = await openAfter(sql, address, { after: lostFrom - 1, limit });
  return { ...anew, lostFrom };
}

async function openAfter(sql: Sql, address: RunAddress, reading: Reading): Promise<RunOpening & { epoch: number }> {
  const values = [address.runId, address.accountId, reading.after, reading.limit];
  const row = await runWithEvents.first(sql, values);
  if (!row) throw runNotFound(address.runId);

  const { lease_owner: workerId, events_trimmed_through, last_seq, epoch } = row.run;
  const isTrimmed = reading.after < events_trimmed_through;
  const page = isTrimmed
    ? await readEvents(sql, address, reading)
    : { data: row.facts.map((fact) => toShownEvent(factOfJson(fact))), head_seq: last_seq };
  const run = toRun(row.run);
  const holder = workerId === null ? undefined : { workerId, threadId: run.thread_id };
  return { run, holder, page, epoch };
}

/** The whole log, a page at a time. */
export async function* allPages(sql: Sql, address: RunAddress): AsyncGenerator<LogPage, void> {
  const limit = 1_000;
  let after = 0;
  for (;;) {
    const page = await readPage(sql, address, { after, limit });
    yield page;
    after = page.facts.at(-1)?.seq ?? page.headSeq;
    if (after >= page.headSeq) return;
  }
}
