import type { Judgement } from './judgement';
import type { TaskResult } from './result';
import { isRight } from './score-answer';
import type { CommandScorer } from './task';

/** `unknown`: there is no true answer. `unjudged`: the judge has not been asked, or its reply could not be read. */
export type Verdict = 'right' | 'wrong' | 'unknown' | 'unjudged';

export interface ScoredResult extends TaskResult {
  readonly verdict: Verdict;
  /** What the judge said of this answer; null where it was not asked. */
  readonly judgement: Judgement | null;
}

export interface Scoring {
  readonly judgements?: readonly Judgement[];
  /** Compares all answers so, in place of how each task says. */
  readonly scorer?: CommandScorer | undefined;
}

/** A task without an answer is wrong. A judgement only holds for the run whose answer was judged. */
export function scoreResults(
  results: readonly TaskResult[],
  { judgements = [], scorer }: Scoring = {},
): ScoredResult[] {
  const byRun = new Map(judgements.map((judgement) => [judgement.judged_run_id, judgement]));
  return results.map((recorded) => {
    const result = { ...recorded, scorer: scorer ?? recorded.scorer };
    const judgement = result.scorer === 'judge' ? (byRun.get(result.run_id) ?? null) : null;
    return { ...result, judgement, verdict: toVerdict(result, judgement) };
  });
}

function toVerdict(result: TaskResult, judgement: Judgement | null): Verdict {
  const { prediction, true_answer: trueAnswer, scorer, tolerance } = result;
  if (trueAnswer === null) return 'unknown';
  if (prediction === null) return 'wrong';
  if (scorer === 'judge') return judgement?.verdict ?? 'unjudged';
  return isRight({ prediction, trueAnswer, scorer, tolerance }) ? 'right' : 'wrong';
}

/** Whether the verdict counts. */
export const isScored = ({ verdict }: ScoredResult): boolean => verdict === 'right' || verdict === 'wrong';

/** Whether the judge is to be asked, or was. */
export const needsJudge = ({ scorer, true_answer: trueAnswer, prediction }: ScoredResult): boolean =>
  scorer === 'judge' && trueAnswer !== null && prediction !== null;
