import {
  type AccountId,
  type Evaluation,
  type EvaluationId,
  type EvaluationSummary,
  type EvaluationWithResults,
  type NewId,
  type TaskResult,
  evaluationId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { lockAccount } from '../lock-account';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';

interface EvaluationAddress {
  readonly accountId: AccountId;
  readonly evaluationId: EvaluationId;
}

interface EvaluationToStore {
  readonly accountId: AccountId;
  readonly name: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly results: readonly TaskResult[];
  /** How many the account may have. */
  readonly most: number;
}

const evaluationRow = z.object({
  id: evaluationId,
  name: z.string(),
  summary: jsonDocument<EvaluationSummary>(),
  created_at: z.date(),
  updated_at: z.date(),
});

const columns = 'id, name, summary, created_at, updated_at';

const storeEvaluation = createQuery(
  evaluationRow,
  `
insert into evaluations (id, account_id, name, summary, results) select $1, $2, $3, $4, $5
where (select count(*) from evaluations where account_id = $2 and name <> $3) < $6
on conflict (account_id, name) do update
  set summary = excluded.summary, results = excluded.results, updated_at = clock_timestamp()
returning ${columns}`,
);

const listedEvaluations = createQuery(
  evaluationRow,
  `
select ${columns} from evaluations where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
);

const oneEvaluation = createQuery(
  evaluationRow.extend({ results: jsonDocument<TaskResult[]>() }),
  `select ${columns}, results from evaluations where account_id = $1 and id = $2`,
);

const deleteEvaluation = `delete from evaluations where account_id = $1 and id = $2 returning id`;

/** Results of evaluations of one account each: another account's does not exist (`evaluation_not_found`). */
export class Evaluations {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Replaces what has this name. Rejects with `too_many_evaluations`. */
  async store({ accountId, name, agent, model, results, most }: EvaluationToStore): Promise<Evaluation> {
    const summary: EvaluationSummary = { agent, model, ...summarize(results) };
    const values = [`evl_${this.newId()}`, accountId, name, JSON.stringify(summary), JSON.stringify(results), most];
    const row = await this.database.transaction(async (sql) => {
      await lockAccount(sql, accountId);
      return storeEvaluation.first(sql, values);
    });
    if (row) return toEvaluation(row);
    throw new TerminalError('too_many_evaluations', `An account may have ${most} evaluations. Delete one first.`);
  }

  /** Newest first. Rejects with `invalid_cursor`. */
  async list({ accountId, after, limit }: PageRequest & { accountId: AccountId }): Promise<Page<Evaluation>> {
    const before = after === undefined ? null : idOfCursor(after, evaluationId);
    const rows = await listedEvaluations.all(this.database.sql, [accountId, before, limit + 1]);
    return toPage(rows.map(toEvaluation), limit);
  }

  async get({ accountId, evaluationId: id }: EvaluationAddress): Promise<EvaluationWithResults> {
    const row = await oneEvaluation.first(this.database.sql, [accountId, id]);
    if (!row) throw evaluationNotFound(id);
    return { ...toEvaluation(row), results: row.results };
  }

  async delete({ accountId, evaluationId: id }: EvaluationAddress): Promise<void> {
    const deleted = await this.database.sql.query(deleteEvaluation, [accountId, id]);
    if (deleted.length === 0) throw evaluationNotFound(id);
  }
}

const evaluationNotFound = (id: EvaluationId): TerminalError =>
  new TerminalError('evaluation_not_found', `There is no evaluation ${id}.`);

const toEvaluation = ({ id, name, summary, ...row }: z.infer<typeof evaluationRow>): Evaluation => ({
  ...{ id, name, ...summary },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

function summarize(results: readonly TaskResult[]): Omit<EvaluationSummary, 'agent' | 'model'> {
  const count = (matches: (result: TaskResult) => boolean): number => results.filter(matches).length;
  return {
    tasks: results.length,
    scored: count(({ verdict }) => verdict === 'right' || verdict === 'wrong'),
    right: count(({ verdict }) => verdict === 'right'),
    unjudged: count(({ verdict }) => verdict === 'unjudged'),
    errors: count(({ error }) => error !== null),
    cost_usd: results.reduce((sum, result) => sum + (result.cost_usd ?? 0), 0),
  };
}
