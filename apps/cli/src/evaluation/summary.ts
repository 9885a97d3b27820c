import { type TaskResult, verdictOf } from './result';
import { type Interval, pairedBootstrap, wilson } from './statistics';

export interface Summary {
  readonly tasks: number;
  /** Tasks whose true answer is known. */
  readonly scored: number;
  readonly right: number;
  readonly errors: number;
  /** Of the right ones among the scored, with 95 % confidence. */
  readonly interval: Interval;
  /** Of the tasks whose price is known. */
  readonly costUsd: number;
  readonly unpriced: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
}

const sumOf = (results: readonly TaskResult[], value: (result: TaskResult) => number | null): number =>
  results.reduce((sum, result) => sum + (value(result) ?? 0), 0);

export function summaryOf(results: readonly TaskResult[]): Summary {
  const verdicts = results.map(verdictOf).filter((verdict) => verdict !== undefined);
  const right = verdicts.filter(Boolean).length;
  return {
    tasks: results.length,
    scored: verdicts.length,
    right,
    errors: results.filter(({ agent_error: error }) => error !== null).length,
    interval: wilson(right, verdicts.length),
    costUsd: sumOf(results, (result) => result.cost_usd),
    unpriced: results.filter(({ cost_usd: cost }) => cost === null).length,
    inputTokens: sumOf(results, (result) => result.token_counts.input),
    outputTokens: sumOf(results, (result) => result.token_counts.output),
    seconds: sumOf(results, (result) => result.duration_s),
  };
}

export interface Change {
  readonly taskId: string;
  readonly change: 'gained' | 'lost';
}

export interface EvaluationComparison {
  /** Tasks that both have scored; only these are compared. */
  readonly tasks: number;
  readonly before: Summary;
  readonly after: Summary;
  readonly changes: readonly Change[];
  /** Share of right answers after minus before, with 95 % confidence. */
  readonly difference: number;
  readonly interval: Interval;
}

export function compareResults(before: readonly TaskResult[], after: readonly TaskResult[]): EvaluationComparison {
  const others = new Map(after.map((result) => [result.task_id, result]));
  const pairs = before.flatMap((first) => {
    const second = others.get(first.task_id);
    const verdicts = [verdictOf(first), second && verdictOf(second)];
    return second && !verdicts.includes(undefined)
      ? [{ first, second, gain: Number(verdicts[1]) - Number(verdicts[0]) }]
      : [];
  });
  const gains = pairs.map(({ gain }) => gain);
  return {
    tasks: pairs.length,
    before: summaryOf(pairs.map(({ first }) => first)),
    after: summaryOf(pairs.map(({ second }) => second)),
    changes: pairs
      .filter(({ gain }) => gain !== 0)
      .map(({ first, gain }) => ({ taskId: first.task_id, change: gain > 0 ? 'gained' : 'lost' })),
    difference: gains.length === 0 ? 0 : gains.reduce((sum, gain) => sum + gain, 0) / gains.length,
    interval: pairedBootstrap(gains),
  };
}
