import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type RecordedFact, type Run, type Usage, roundUsd } from '@rondo/contract';
import { beforeFirstFact, projectRun } from '@rondo/domain';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../database/checked-query';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { callChanges } from '../../run-log/ledger-rows';
import { type RunJson, toRun } from '../../run-log/run-row';
import { type RunAddress, runNotFound } from './lock-run';
import { visibleRun } from './read-runs';

/** What is compared of a row. Of what may be long, that is a digest of its JSON. */
type Columns = Readonly<Record<string, unknown>>;

const columnsById = jsonDocument<Readonly<Record<string, Columns>>>();

const selectById = (columns: string, rows: string): string =>
  `(select coalesce(json_object_agg(id, row_to_json(compared)), '{}') from (select ${columns} from ${rows}) as compared)`;

/** One statement, so that all rows are of one moment. A message that was superseded is one that models have read. */
const rowsOfRun = createQuery(
  z.object({
    run: jsonDocument<RunJson>(),
    messages: columnsById,
    tool_calls: columnsById,
    usage_entries: columnsById,
  }),
  `
select row_to_json(run) as run,
  ${selectById(
    `id, seq, type, md5(content::text) as content_md5, is_llm_message or metadata::text like '%"superseded_by":%' as is_llm_message`,
    'messages where thread_id = run.thread_id and run_id = run.id',
  )} as messages,
  ${selectById(
    'id, name, status, attempt, md5(arguments::text) as arguments_md5, md5(result::text) as result_md5',
    'tool_calls where run_id = run.id',
  )} as tool_calls,
  ${selectById(
    'model_call_id as id, model, finish_reason, input_tokens, cached_tokens, output_tokens, cost_usd',
    `usage_entries where account_id = run.account_id and run_id = run.id
      and created_at between run.created_at and coalesce(run.finished_at, 'infinity')`,
  )} as usage_entries
from (${visibleRun.text}) as run`,
);

/** The rows beside the log of a run, by which the API answers most questions about it. */
type RowsOfRun = Awaited<ReturnType<typeof readRowsOfRun>>;

export async function readRowsOfRun(sql: Sql, { accountId, runId }: RunAddress) {
  const rows = await rowsOfRun.first(sql, [runId, accountId]);
  if (!rows) throw runNotFound(runId);
  return { ...rows, run: toRun(rows.run) };
}

/** What the rows beside a log have to say: its facts, one after the other, by the rules by which rows are written. */
export class RowComparison {
  private run: Run;
  private isTrimmed = false;
  private readonly messages = new Map<string, Columns>();
  private readonly toolCalls = new Map<string, Columns>();
  private readonly usageEntries = new Map<string, Columns>();
  private readonly found: string[] = [];

  constructor(private readonly rows: RowsOfRun) {
    this.run = beforeFirstFact(rows.run);
  }

  /** Facts that were written after the rows were read are left out. */
  add(facts: readonly RecordedFact[], { isTrimmed }: { readonly isTrimmed: boolean }): void {
    this.isTrimmed ||= isTrimmed;
    for (const fact of facts) if (fact.seq <= this.rows.run.last_seq) this.addFact(fact);
  }

  /** A sentence for each difference. Of a log without its first facts, the last one says how the run stands. */
  listDifferences(): string[] {
    const { rows, run } = this;
    if (this.isTrimmed && run.finished_at === null) return [];
    const ofRun = compareColumns('the run', toColumns(rows.run), toColumns(run));
    if (this.isTrimmed) return ofRun;
    return [
      ...ofRun,
      ...this.found,
      ...compareRows('message', rows.messages, this.messages),
      ...compareRows('tool call', rows.tool_calls, this.toolCalls),
      ...compareRows('usage entry', rows.usage_entries, this.usageEntries),
    ];
  }

  private addFact(fact: RecordedFact): void {
    const usage = toEndUsage(fact);
    if (this.isTrimmed) this.beginAt(this.rows.run, usage ?? this.rows.run.usage);
    else if (fact.type === 'run.forked') this.beginFork();
    this.run = projectRun(this.run, [fact]);
    if (usage)
      this.found.push(...compareColumns('the last fact', toUsageColumns(usage), toUsageColumns(this.run.usage)));
    this.addRows(fact);
  }

  /** What a fork shares was used by its origin, and its row begins with the sum of that. */
  private beginFork(): void {
    this.beginAt({ ...this.run, stop_requested_at: null }, this.run.usage);
    this.usageEntries.clear();
  }

  private beginAt({ started_at, stop_requested_at }: Run, usage: Usage): void {
    this.run = { ...beforeFirstFact(this.rows.run), started_at, stop_requested_at, usage };
  }

  private addRows(fact: RecordedFact): void {
    if (fact.type === 'message.created') {
      const { id, seq, type, content, is_llm_message } = fact.data.message;
      this.messages.set(id, { seq, type, content_md5: digestValue(content), is_llm_message });
    } else if (fact.type === 'usage.recorded') {
      const { model_call_id: id, model, finish_reason } = fact.data;
      const names = { model: toStoredText(model), finish_reason: toStoredText(finish_reason) };
      this.usageEntries.set(id, { ...names, ...toUsageColumns(fact.data) });
    } else if (fact.type === 'approval.decided' && fact.data.arguments) {
      this.changeCall(fact.data.tool_call_id, { arguments_md5: digestValue(fact.data.arguments) });
    }
    for (const { id, plan, status, attempt, result } of callChanges([{ fact }])) {
      if (plan)
        this.changeCall(id, {
          name: toStoredText(plan.name),
          arguments_md5: digestValue(plan.arguments),
          result_md5: null,
        });
      this.changeCall(id, { status, ...(attempt !== null && { attempt }) });
      if (result !== null) this.changeCall(id, { result_md5: digest(result) });
    }
  }

  private changeCall(id: string, columns: Columns): void {
    this.toolCalls.set(id, { ...this.toolCalls.get(id), ...columns });
  }
}

const digest = (json: string): string => createHash('md5').update(json).digest('hex');
const digestValue = (value: unknown): string => digest(JSON.stringify(value));

const toEndUsage = (fact: RecordedFact): Usage | undefined =>
  fact.type === 'run.completed' || fact.type === 'run.failed' || fact.type === 'run.stopped'
    ? fact.data.usage
    : undefined;

const toUsageColumns = ({ input_tokens, cached_tokens, output_tokens, cost_usd }: Usage): Columns => ({
  ...{ input_tokens, cached_tokens, output_tokens },
  cost_usd: cost_usd && roundUsd(cost_usd),
});

/** Which worker has a run, if any, is no fact. */
const toColumns = ({ status, iteration, finish_reason, error, waiting, usage, ...run }: Run): Columns => ({
  status: status === 'queued' || status === 'running' ? 'queued or running' : status,
  ...{ iteration, finish_reason, error, waiting },
  ...toUsageColumns(usage),
  ...{ started_at: run.started_at, finished_at: run.finished_at, stop_requested_at: run.stop_requested_at },
});

function compareRows(
  kind: string,
  stored: Readonly<Record<string, Columns>>,
  inLog: ReadonlyMap<string, Columns>,
): string[] {
  const without = Object.keys(stored).filter((id) => !inLog.has(id));
  return [
    ...[...inLog].flatMap(([id, columns]) => {
      const row = stored[id];
      return row ? compareColumns(`${kind} ${id}`, row, columns) : [`${kind} ${id} is in the log and has no row`];
    }),
    ...without.map((id) => `${kind} ${id} has a row and is not in the log`),
  ];
}

const compareColumns = (subject: string, stored: Columns, inLog: Columns): string[] =>
  Object.entries(inLog)
    .filter(([name, value]) => !isDeepStrictEqual(stored[name], value))
    .map(
      ([name, value]) =>
        `${subject}: ${name} is ${JSON.stringify(stored[name])}, and by the log ${JSON.stringify(value)}`,
    );
