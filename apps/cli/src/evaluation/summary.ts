import { type ScoredResult, isScored } from './scored-result';
import { toDollars } from '../dollars';
import { type Interval, bootstrapPairs, wilson } from './statistics';

export interface Summary {
  readonly tasks: number;
  /** Tasks whose answer is right or wrong. */
  readonly scored: number;
  readonly right: number;
  /** Tasks that the judge has not judged. They are neither right nor wrong. */
  readonly unjudged: number;
  readonly errors: number;
  /** Of the right ones among the scored, with 95 % confidence. */
  readonly interval: Interval;
  /** Of the tasks whose price is known. */
  readonly costUsd: number;
  readonly unpriced: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
  /** What the judge has cost, which is in none of the sums above. */
  readonly judging: Judging;
}

interface Judging {
  readonly answers: number;
  readonly costUsd: number;
  readonly unpriced: number;
}

const computeSum = (results: readonly ScoredResult[], value: (result: ScoredResult) => number | null): number =>
  results.reduce((sum, result) => sum + (value(result) ?? 0), 0);

export function toSummary(results: readonly ScoredResult[]): Summary {
  const known = results.filter(isScored);
  const right = known.filter(({ verdict }) => verdict === 'right').length;
  return {
    tasks: results.length,
    scored: known.length,
    right,
    unjudged: results.filter(({ verdict }) => verdict === 'unjudged').length,
    errors: results.filter(({ agent_error: error }) => error !== null).length,
    interval: wilson(right, known.length),
    costUsd: computeSum(results, (result) => result.cost_usd),
    unpriced: results.filter(({ cost_usd: cost }) => cost === null).length,
    inputTokens: computeSum(results, (result) => result.token_counts.input),
    outputTokens: computeSum(results, (result) => result.token_counts.output),
    seconds: computeSum(results, (result) => result.duration_s),
    judging: toJudging(results),
  };
}

/** The sums of each level that tasks have. */
export function listLevels(results: readonly ScoredResult[]): { readonly level: string; readonly summary: Summary }[] {
  const levels = [...new Set(results.flatMap(({ task }) => task ?? []))].sort();
  return levels.map((level) => ({ level, summary: toSummary(results.filter(({ task }) => task === level)) }));
}

function toJudging(results: readonly ScoredResult[]): Judging {
  const asked = results.flatMap(({ judgement }) =>
    judgement !== null && judgement.run_id !== null ? [judgement] : [],
  );
  return {
    answers: asked.length,
    costUsd: asked.reduce((sum, { cost_usd: cost }) => sum + (cost ?? 0), 0),
    unpriced: asked.filter(({ cost_usd: cost }) => cost === null).length,
  };
}

interface Change {
  readonly taskId: string;
  readonly change: 'gained' | 'lost';
}

interface EvaluationComparison {
  /** Tasks that both have scored; only these are compared. */
  readonly tasks: number;
  readonly before: Summary;
  readonly after: Summary;
  readonly changes: readonly Change[];
  /** Share of right answers after minus before, with 95 % confidence. */
  readonly difference: number;
  readonly interval: Interval;
}

export function compareResults(before: readonly ScoredResult[], after: readonly ScoredResult[]): EvaluationComparison {
  const others = new Map(after.map((result) => [result.task_id, result]));
  const pairs = before.flatMap((first) => {
    const second = others.get(first.task_id);
    return second && isScored(first) && isScored(second) ? [{ first, second, gain: toGain(first, second) }] : [];
  });
  const gains = pairs.map(({ gain }) => gain);
  return {
    tasks: pairs.length,
    before: toSummary(pairs.map(({ first }) => first)),
    after: toSummary(pairs.map(({ second }) => second)),
    changes: pairs
      .filter(({ gain }) => gain !== 0)
      .map(({ first, gain }) => ({ taskId: first.task_id, change: gain > 0 ? 'gained' : 'lost' })),
    difference: gains.length === 0 ? 0 : gains.reduce((sum, gain) => sum + gain, 0) / gains.length,
    interval: bootstrapPairs(gains),
  };
}

const toGain = (before: ScoredResult, after: ScoredResult): number =>
  Number(after.verdict === 'right') - Number(before.verdict === 'right');

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
export const intervalText = ({ low, high }: Interval): string => `${percent(low)} to ${percent(high)}`;

export const costText = (costUsd: number, unpriced: number): string =>
  `${toDollars(costUsd)}${unpriced > 0 ? ` (${unpriced} unknown)` : ''}`;

export const countNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const scoreText = ({ right, scored, interval }: Summary): string =>
  scored === 0
    ? 'none scored'
    : `${right} of ${scored} right (${percent(right / scored)}; 95 %: ${intervalText(interval)})`;

/** The sum of an evaluation, for a person. */
export function toSentence(summary: Summary): string {
  const { tasks, unjudged, errors, costUsd, unpriced, judging } = summary;
  const open = unjudged === 0 ? '' : `${unjudged} unjudged, `;
  const judged = judging.answers === 0 ? '' : ` and ${costText(judging.costUsd, judging.unpriced)} for the judge`;
  const problems = `${open}${countNoun(errors, 'error')}`;
  return `${countNoun(tasks, 'task')}: ${scoreText(summary)}, ${problems}, ${costText(costUsd, unpriced)}${judged}.`;
}
