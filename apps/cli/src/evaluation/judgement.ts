import { readObject } from '../json-object';
import type { EntryFormat } from './evaluation-log';

/** What a line of the file of judgements says about an answer. */
export interface Judgement {
  readonly task_id: string;
  /** The run whose answer was judged. */
  readonly judged_run_id: string;
  /** `unjudged`: the judge did not answer, or not as it was asked. */
  readonly verdict: 'right' | 'wrong' | 'unjudged';
  /** What the judge said, or why there is no verdict. */
  readonly reason: string;
  /** The run of the judge; null where it was not asked. */
  readonly run_id: string | null;
  readonly model: string | null;
  /** Null where the price is not known. */
  readonly cost_usd: number | null;
}

const verdicts: readonly unknown[] = ['right', 'wrong', 'unjudged'];

/** A line that this program wrote; undefined for one that was not written to its end, or is from elsewhere. */
export function findJudgement(line: string): Judgement | undefined {
  const value: Partial<Judgement> | undefined = readObject(line);
  const isWhole = typeof value?.task_id === 'string' && typeof value.judged_run_id === 'string';
  return isWhole && verdicts.includes(value.verdict) ? (value as Judgement) : undefined; // the program's own file
}

/** An answer of a later run of the task is judged anew. */
export const judgementFormat: EntryFormat<Judgement> = { read: findJudgement, toId: ({ judged_run_id: id }) => id };

/** Beside the results. */
export const judgementsPath = (results: string): string => `${results}.judgements`;
