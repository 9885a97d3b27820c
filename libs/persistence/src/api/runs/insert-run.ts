import type {
  AccountId,
  AgentId,
  CallId,
  NewFact,
  RecordedFact,
  Run,
  RunId,
  WorkspaceRewinding,
} from '@rondo/contract';
import { RowSet } from '../../database/row-set';
import { activated, toOutbox } from '../../database/run-activation';
import type { Sql } from '../../database/sql';
import { toStoredText, toStoredJson } from '../../database/stored-text';
import { basisRevision } from '../agents/run-basis';
import type { IdempotentRequest, StoredResponse } from '../idempotency-keys';

export interface RunToInsert {
  readonly accountId: AccountId;
  readonly run: Run;
  /** In its tree; undefined for a run of its own. */
  readonly depth?: number | undefined;
  /** `run.created`, and `message.created` for the input unless the run is queued. */
  readonly facts: readonly RecordedFact[];
  /** The key, or the user of an outside issuer, that starts it. */
  readonly createdBy?: string | undefined;
  /** The agent that a new thread gets. */
  readonly threadAgent?: AgentId | undefined;
  /** The text of the input, also of a queued run. */
  readonly inputText: string | undefined;
  /** The input of a queued run as JSON. Undefined for a run that becomes active at once. */
  readonly waitsWith: string | null | undefined;
  /** The revision that the basis of a run on a new thread must still have. */
  readonly basis?: string | undefined;
}

const newRuns = new RowSet('run', {
  id: 'text',
  account_id: 'text',
  thread_id: 'text',
  last_seq: 'int',
  profile: 'text',
  model: 'json',
  settings: 'json',
  agent_id: 'text',
  agent_version: 'int',
  parent_run_id: 'text',
  parent_call_id: 'text',
  root_run_id: 'text',
  tree_depth: 'int',
  project_id: 'text',
  thread_agent: 'text',
  thread_title: 'json',
  preview: 'json',
  input_text: 'json',
  trace_id: 'text',
  end_user: 'text',
  created_by: 'text',
  metadata: 'json',
  created_at: 'timestamptz',
  queued_input: 'json',
  takes_thread: 'boolean',
  created_id: 'text',
  created: 'json',
  said_id: 'text',
  said: 'json',
  message_id: 'text',
  message_seq: 'int',
  content: 'json',
  message_metadata: 'json',
  basis: 'text',
});

/** The first rows of runs. Inserts only `some`, and no run on a thread that has an active run. */
const insertStatement = (some: string) => `
created as (
  insert into runs
    (id, account_id, thread_id, project_id, status, last_seq, profile, model, settings, agent_id, agent_version, parent_run_id, parent_call_id, root_run_id, tree_depth, preview, trace_id, end_user, created_by, metadata, created_at, queued_input, past_through, holds_thread, activation, activated_at)
  select id, account_id, thread_id, project_id, 'queued', last_seq, profile, model #>> '{}', settings, agent_id, agent_version, parent_run_id, parent_call_id, root_run_id, tree_depth, preview #>> '{}', trace_id, end_user, created_by, metadata, created_at, queued_input,
    case when takes_thread then coalesce(message_seq, (select last_message_seq from threads where threads.id = thread_id), 0) end,
    takes_thread, takes_thread::int, case when takes_thread then clock_timestamp() end
  from run where ${some}
  on conflict (thread_id) where holds_thread do nothing
  returning ${activated}
),
begun as materialized (select run.* from run join created on created.id = run.id),
new_event as (
  insert into run_events (run_id, seq, id, type, iteration, epoch, at, data)
  select begun.id, fact.seq, fact.id, fact.type, 0, 0, created_at, fact.data
  from begun cross join lateral (
    values (1, created_id, 'run.created', begun.created), (2, said_id, 'message.created', said)
  ) as fact(seq, id, type, data)
  where fact.seq <= last_seq
),
new_message as (
  insert into messages (id, thread_id, run_id, seq, type, is_llm_message, content, metadata, created_at)
  select message_id, thread_id, id, message_seq, 'user', true, content, message_metadata, created_at from begun where last_seq = 2
),
new_input as (
  insert into run_inputs (run_id, account_id, text)
  select id, account_id, input_text #>> '{}' from begun where input_text is not null
),
queued_jobs as (${toOutbox('created where activation > 0')})
select id from created`;

/** Has the planner expect one row; see `appendStatement`. */
const these = `run as materialized (select * from ${newRuns.table(1)} limit cardinality($1))`;

const onThreads = (some: string) => `
thread as (
  insert into threads (id, account_id, project_id, agent_id, title, end_user, last_message_seq, message_bytes)
  select thread_id, account_id, project_id, thread_agent, thread_title #>> '{}', end_user, coalesce(message_seq, 0), coalesce(octet_length(content::text), 0)
  from run where ${some}
),
${insertStatement(some)}`;

/** Runs whose basis is the one that their settings come from. */
const onSameBasis = `basis is null or basis = ${basisRevision('run.account_id', 'run.thread_agent')}`;

export const onNewThreads = `
with asked as materialized (select * from ${newRuns.table(1)} limit cardinality($1)),
run as materialized (select * from asked as run where ${onSameBasis}),
${onThreads('true')}`;

const [facade, chatId, runName, key, requestHash, status, response, location] = Array.from(
  { length: 8 },
  (_, index) => `$${newRuns.width + 1 + index}`,
);

/** A chat and the keys of its requests come and go together, except for those of a deleted chat. */
const onNamedThread = `
with ${these},
named as (
  insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id)
  select account_id, ${facade}, 'chat', ${chatId}, thread_id, thread_id from run
  where not exists (select from idempotency_keys as known where known.account_id = run.account_id and known.key = ${key})
  on conflict do nothing returning thread_id
),
named_run as (
  insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id, data)
  select account_id, ${facade}, 'run', ${runName}, thread_id, id, '{"after": 0}' from run join named using (thread_id)
  where ${runName}::text is not null
  on conflict (account_id, facade, kind, outer_id) do update
  set thread_id = excluded.thread_id, inner_id = excluded.inner_id, data = excluded.data
),
answered as (
  insert into idempotency_keys (account_id, key, request_hash, status, response, location, created_at)
  select account_id, ${key}, ${requestHash}, ${status}::int, ${response}::json, ${location}, clock_timestamp()
  from run join named using (thread_id) where ${key}::text is not null
),
${onThreads('thread_id in (select thread_id from named)')}`;

/** Queued runs, and runs for whose thread no other run is queued. Written so that the planner looks runs up by thread. */
const inTurn = `
not takes_thread or (
  select id from runs where thread_id = run.thread_id and not holds_thread and finished_at is null order by thread_id, id limit 1
) is null`;

export const byThread = `
with ${these},
thread as (
  update threads set last_message_seq = message_seq, message_bytes = message_bytes + octet_length(content::text)
  from run where threads.id = thread_id and last_seq = 2
),
${insertStatement(inTurn)}`;

/** One statement for any number of runs. Resolves to false for each run whose thread has another active run, or whose basis has changed. */
export async function insertRuns(
  sql: Sql,
  runs: readonly FirstRows[],
  { newThreads }: { newThreads: boolean },
): Promise<readonly boolean[]> {
  const values = newRuns.values(runs);
  const created = await sql.query<{ id: string }>(newThreads ? onNewThreads : byThread, values);
  return runs.map((run) => created.some(({ id }) => id === run.id));
}

/** What a client of a façade calls the new thread of a run, and the run. */
export interface NamedChat {
  readonly facade: string;
  readonly chatId: string;
  readonly runName?: string | undefined;
}

interface Names {
  readonly chat: NamedChat;
  /** The answer to the request that begins the run, under its key. */
  readonly answered: (StoredResponse & { readonly request: IdempotentRequest }) | undefined;
}

/** A run on a new thread, its names and the answer to its request. Resolves to false where the name is taken, or the request known. */
export async function insertNamedRun(sql: Sql, run: FirstRows, { chat, answered }: Names): Promise<boolean> {
  const { facade, chatId, runName } = chat;
  const values = [...newRuns.values([run]), facade, chatId, runName ?? null];
  const answer = answered
    ? [
        toStoredText(answered.request.key),
        answered.request.requestHash,
        answered.status,
        JSON.stringify(answered.body),
        answered.location,
      ]
    : Array.from({ length: 5 }, () => null);
  return (await sql.query(onNamedThread, [...values, ...answer])).length > 0;
}

export type FirstRows = ReturnType<typeof toFirstRows>;

/** About how many characters it adds to the statement. */
export const measureLength = ({ content, said, settings, metadata, queued_input, input_text }: FirstRows): number =>
  [content, said, settings, metadata, queued_input, input_text].reduce((sum, json) => sum + (json?.length ?? 0), 0);

const longestTitle = 200;

/** A new thread is called what its first run is, where that says so: the first words of many runs may be the same. */
function toThreadTitle(given: string | undefined): string | null {
  const title = given?.trim().slice(0, longestTitle) ?? '';
  return title === '' ? null : toStoredJson(title);
}

/** The run as parameters of the statement. What cannot be serialized fails here, and not the other runs of the batch. */
export function toFirstRows({
  run,
  depth,
  accountId,
  createdBy,
  threadAgent,
  facts: [created, said],
  inputText,
  waitsWith,
  basis,
}: RunToInsert) {
  const message = said?.type === 'message.created' ? said.data.message : undefined;
  return {
    id: run.id,
    account_id: accountId,
    thread_id: run.thread_id,
    last_seq: run.last_seq,
    profile: run.profile,
    model: toStoredJson(run.model),
    settings: JSON.stringify(run.settings),
    agent_id: run.agent_id,
    agent_version: run.agent_version,
    parent_run_id: run.parent_run_id,
    parent_call_id: run.parent_call_id,
    root_run_id: run.root_run_id,
    tree_depth: depth ?? null,
    project_id: run.project_id,
    thread_agent: threadAgent ?? null,
    thread_title: toThreadTitle(run.metadata['title']),
    preview: run.preview === null ? null : toStoredJson(run.preview),
    input_text: inputText ? toStoredJson(inputText) : null,
    trace_id: run.trace_id,
    end_user: run.user ?? null,
    created_by: createdBy ?? null,
    metadata: JSON.stringify(run.metadata),
    created_at: run.created_at,
    queued_input: waitsWith ?? null,
    takes_thread: waitsWith === undefined,
    created_id: created?.id ?? null,
    created: created ? JSON.stringify(created.data) : null,
    said_id: said?.id ?? null,
    said: said ? JSON.stringify(said.data) : null,
    message_id: message?.id ?? null,
    message_seq: message?.seq ?? null,
    content: message ? JSON.stringify(message.content) : null,
    message_metadata: message ? JSON.stringify(message.metadata) : null,
    basis: basis ?? null,
  };
}

/** The stored agent whose settings a run has. */
export interface RunAgent {
  readonly id: AgentId;
  readonly version: number;
  /** The request named it, so a new thread keeps it for its later runs. */
  readonly isNamed: boolean;
}

/** Where a run that a call of `run_agent` starts stands in its tree. */
export interface RunOrigin {
  readonly parentRunId: RunId;
  readonly parentCallId: CallId;
  readonly rootRunId: RunId;
  /** 1 for a child of the first run. */
  readonly depth: number;
}

/** As the run and its first fact have it. */
export const originFields = (origin: RunOrigin | undefined) =>
  origin && { parent_run_id: origin.parentRunId, parent_call_id: origin.parentCallId, root_run_id: origin.rootRunId };

export const agentFields = (agent: RunAgent | undefined) =>
  agent && { agent_id: agent.id, agent_version: agent.version };

/** Files that an executor has kept of a moment. */
export interface KeptFiles extends WorkspaceRewinding {
  readonly executorId: string;
}

/** Has the files brought into the workspace of a run before it begins. */
export const rewindingFact = ({ thread_id, run_id, moment }: KeptFiles, iteration: number): NewFact => ({
  type: 'workspace.rewinding',
  iteration,
  data: { thread_id, run_id, moment },
});
