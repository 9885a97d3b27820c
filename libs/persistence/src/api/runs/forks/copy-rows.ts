import type { ForkOrigin, RecordedFact, RunId, RunSettings, ThreadId } from '@rondo/contract';
import { type ForkPoint, builtInTools } from '@rondo/domain';
import type { Sql } from '../../../database/sql';
import { toStoredText } from '../../../database/stored-text';
import type { RunRow } from '../../../run-log/run-row';
import { supersededBy } from '../supersede-turn';
import type { ForkIds } from './fork-ids';
import { z } from 'zod';
import { createQuery } from '../../../database/checked-query';

/**
 * Rows as the text of their composite type, which keeps every column as it is: Postgres takes no rows out of JSON that holds
 * `\u0000` or half of a surrogate pair, which tools print. The ids in them are found in their JSON.
 */
export interface CopiedRows {
  readonly json: string;
  readonly records: readonly string[];
}

/** What the shared part of a log consists of. */
export interface SharedRows {
  readonly messages: CopiedRows;
  readonly events: CopiedRows;
  readonly calls: CopiedRows;
  readonly lastFactAt: string;
  /** Some calls were sent to an executor. */
  readonly usedTools: boolean;
}

/** `order` is a column of the table. */
const selectRows = (table: string, { order, where }: { order: string; where: string }) =>
  createQuery(
    z.object({ json: z.string(), records: z.array(z.string()) }),
    `
select coalesce(json_agg(row_to_json(${table}) order by ${order}), '[]')::text as json,
  coalesce(array_agg(${table}::text order by ${order}), '{}') as records from ${table} where ${where}`,
  );

/** Messages from before the run, and its own, as far as facts of the shared part have them. */
const messageRows = selectRows('messages', {
  order: 'seq',
  where: `thread_id = $1 and (id = any($3::text[]) or (seq <= $2 and run_id is distinct from $4))`,
});
const eventRows = selectRows('run_events', { order: 'seq', where: `run_id = $1 and seq <= $2` });
const callRows = selectRows('tool_calls', { order: 'id', where: `run_id = $1 and id = any($2::text[])` });

const readRows = async (sql: Sql, statement: typeof messageRows, values: unknown[]): Promise<CopiedRows> =>
  (await statement.first(sql, values)) ?? { json: '[]', records: [] };

const pastThrough = createQuery(
  z.object({ seq: z.number() }),
  `select coalesce(past_through, 0) as seq from runs where id = $1`,
);

export async function readSharedRows(sql: Sql, row: RunRow, log: readonly RecordedFact[]): Promise<SharedRows> {
  const said = log.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.id] : []));
  const calls = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
  const past = await pastThrough.first(sql, [row.id]);
  return {
    messages: await readRows(sql, messageRows, [row.thread_id, past?.seq ?? 0, said, row.id]),
    events: await readRows(sql, eventRows, [row.id, log.length]),
    calls: await readRows(sql, callRows, [row.id, calls]),
    lastFactAt: log.at(-1)?.at ?? row.created_at.toISOString(),
    usedTools: log.some(
      (fact) => fact.type === 'tool.started' && builtInTools.named(fact.data.name)?.runsIn !== 'loop',
    ),
  };
}

export interface Fork {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly epoch: number;
  readonly settings: RunSettings;
  readonly traceId: string | undefined;
  readonly createdBy: string | undefined;
  readonly point: ForkPoint;
  readonly origin: ForkOrigin;
  readonly messages: string;
}

const newThread = `
insert into threads (id, account_id, agent_id, end_user, last_message_seq, message_bytes)
select $2, account_id, agent_id, end_user, $3, $4 from threads where id = $1`;

const newRun = `
insert into runs (id, account_id, thread_id, status, iteration, last_seq, epoch, profile, model, settings, agent_id, agent_version,
  preview, metadata, past_through, holds_thread, tool_set, started_at, input_tokens, cached_tokens, output_tokens, cost_usd, forked_from, trace_id, end_user, created_by)
select $2, account_id, $3, 'queued', $4, $5, $6, profile, $7, $8::json, agent_id, agent_version,
  preview, metadata, past_through, true, case when $9::timestamptz is null then null else tool_set end, $9::timestamptz,
  $10, $11, $12, $13, $14::json, $15, end_user, $16
from runs where id = $1`;

interface SaidRow {
  readonly seq: number;
  readonly content: unknown;
}

/** The thread and the run, as they stand after the shared facts. */
export async function insertFork(sql: Sql, from: RunRow, fork: Fork): Promise<void> {
  const { runId, threadId, epoch, settings, traceId, createdBy, point, origin } = fork;
  const said = JSON.parse(fork.messages) as SaidRow[]; // rows of this database
  const bytes = said.reduce((sum, { content }) => sum + Buffer.byteLength(JSON.stringify(content)), 0);
  await sql.query(newThread, [from.thread_id, threadId, said.at(-1)?.seq ?? 0, bytes]);
  const { iteration, startedAt, usage } = point.state;
  await sql.query(newRun, [
    ...[from.id, runId, threadId, iteration, point.seq, epoch],
    ...[toStoredText(settings.model), JSON.stringify(settings), startedAt ?? null],
    ...[usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.cost_usd],
    ...[JSON.stringify(origin), traceId ?? null, createdBy ?? null],
  ]);
}

/**
 * A message of an earlier run is one of no run in the new thread. What was withdrawn since the origin ($3) began, by a run that
 * asked anew, is as it was: the fork is of the time before.
 */
const newMessages = `
insert into messages (id, thread_id, run_id, iteration, seq, type, is_llm_message, content, metadata, created_at)
select (said).id, (said).thread_id, case when (said).run_id = $2 then $2 end, (said).iteration, (said).seq, (said).type,
  (said).is_llm_message or is_withdrawn, (said).content,
  case when is_withdrawn then regexp_replace((said).metadata::text, ',?${supersededBy}', '}')::json else (said).metadata end,
  (said).created_at
from (select unnest($1::text[])::messages as said) as copied, lateral (
  select exists (
    select from runs as later join runs as origin using (thread_id)
    where origin.id = $3 and later.id = substring((said).metadata::text from '${supersededBy}')
      and later.id <> origin.id and later.past_through >= coalesce(origin.past_through, 0)
  ) as is_withdrawn
) as since`;
const newEvents = `insert into run_events select (fact).* from (select unnest($1::text[])::run_events as fact) as copied`;
const newCalls = `insert into tool_calls select (call).* from (select unnest($1::text[])::tool_calls as call) as copied`;

/** Of the images that the copied rows name ($3), or show by their URLs. */
const newRefs = `
insert into blob_refs (thread_id, account_id, sha256)
select $2, account_id, sha256 from blob_refs where thread_id = $1 and (sha256 = any($3::text[]) or sha256 in (
  select sha256 from fetched_images join messages on messages.id = message_id where messages.thread_id = $2
))`;
const anyHash = /[0-9a-f]{64}/g;

/** What came of the images that the messages show by their URLs: it never changes. Copies have the places of the messages. */
const newImages = `
insert into fetched_images (message_id, block, sha256, media_type, width, height, problem, fetched_at)
select copied.id, block, sha256, media_type, width, height, problem, fetched_at
from messages as copied
join messages as said on said.thread_id = $1 and said.seq = copied.seq
join fetched_images on message_id = said.id
where copied.thread_id = $2`;

const selectFiles = createQuery(
  z.object({ file_id: z.string(), path: z.string() }),
  `select file_id, path from run_files where thread_id = $1`,
);
/** With the files of then ($5) they are in the workspace already. */
const newFiles = `
insert into run_files (run_id, thread_id, path, file_id, delivered_at)
select $1, $2, path, file_id, case when $5::boolean then clock_timestamp() end
from unnest($3::text[], $4::text[]) as given(path, file_id)`;

interface CopyTarget {
  readonly from: RunRow;
  readonly ids: ForkIds;
  readonly hasFiles: boolean;
}

/** Under new ids. Uploads that the shared messages name are brought into the new workspace, unless it gets the files of then. */
export async function copyRows(
  sql: Sql,
  { messages, events, calls }: SharedRows,
  { from, runId, threadId, ids, hasFiles }: Pick<Fork, 'runId' | 'threadId'> & CopyTarget,
): Promise<void> {
  const rewritten = ({ json, records }: CopiedRows) => {
    ids.collect(json);
    return records.map((record) => ids.rewrite(record));
  };
  await sql.query(newMessages, [rewritten(messages), runId, from.id]);
  await sql.query(newEvents, [rewritten(events)]);
  await sql.query(newCalls, [rewritten(calls)]);
  await sql.query(newImages, [from.thread_id, threadId]);
  const named = [messages, events, calls].flatMap(({ json }) => json.match(anyHash) ?? []);
  await sql.query(newRefs, [from.thread_id, threadId, [...new Set(named)]]);
  const uploads = await selectFiles.all(sql, [from.thread_id]);
  const brought = uploads.filter(({ file_id }) => messages.json.includes(file_id));
  if (brought.length === 0) return;
  const paths = brought.map(({ path }) => path);
  await sql.query(newFiles, [runId, threadId, paths, brought.map(({ file_id }) => file_id), hasFiles]);
}
