import { readObject } from '../json-object';
import type { EntryFormat } from './evaluation-log';
import { type Scorer, isScorer } from './task';
import { existsSync } from 'node:fs';
import { UsageError } from '../command';
import { wholeLines } from '../durable-file';
import { type Judgement, findJudgement, judgementsPath } from './judgement';

/** What a line of a result file says about a task. Times are UTC, as `2026-01-31 12:00:00`. */
export interface TaskResult {
  readonly agent_name: string | null;
  readonly question: string;
  readonly augmented_question: string;
  readonly prediction: string | null;
  readonly iteration_limit_exceeded: boolean;
  readonly agent_error: string | null;
  /** The level. */
  readonly task: string | null;
  readonly task_id: string;
  readonly true_answer: string | null;
  readonly start_time: string;
  readonly end_time: string;
  readonly token_counts: { readonly input: number; readonly cached: number; readonly output: number };
  /** The thread of the run, which the workspace belongs to. */
  readonly workspace_id: string;
  readonly run_id: string;
  readonly model: string;
  /** Null where the price is not known. */
  readonly cost_usd: number | null;
  readonly duration_s: number | null;
  readonly scorer: Scorer;
  readonly tolerance: number | null;
}

/** A line that this program wrote; undefined for one that was not written to its end, or is from elsewhere. */
function findResult(line: string): TaskResult | undefined {
  const value: Partial<TaskResult> | undefined = readObject(line);
  const isWhole = typeof value?.task_id === 'string' && typeof value.run_id === 'string' && isScorer(value.scorer);
  return isWhole ? (value as TaskResult) : undefined; // the program's own file
}

export const resultFormat: EntryFormat<TaskResult> = { read: findResult, toId: ({ task_id: id }) => id };

/** The results of a file. Errors name it. A task that is there twice, as in files that were joined, would count twice. */
export function readResults(file: string): TaskResult[] {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`);
  const known = new Set<string>();
  return wholeLines(file).map((line, index) => {
    const at = `${file}, line ${index + 1}`;
    const result = findResult(line);
    if (!result) throw new UsageError(`${at}: not a result of rondo eval run.`);
    if (known.has(result.task_id)) throw new UsageError(`${at}: there is already a result of ${result.task_id}.`);
    known.add(result.task_id);
    return result;
  });
}

/** What a judge has said about the results of a file, so far. */
export const readJudgements = (file: string): Judgement[] =>
  wholeLines(judgementsPath(file)).flatMap((line) => findJudgement(line) ?? []);
