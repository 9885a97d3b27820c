import { SlowPatternError, matches, matchesSchema } from './schema-match';
import type { Scorer } from './task';

/** Those that need nothing but the two texts. */
export type TextScorer = Exclude<Scorer, 'judge'>;

export interface Comparison {
  readonly prediction: string;
  readonly trueAnswer: string;
  readonly scorer: TextScorer;
  readonly tolerance: number | null;
}

/** Whether the prediction is right. */
export function isRight({ prediction, trueAnswer, scorer, tolerance }: Comparison): boolean {
  switch (scorer) {
    case 'gaia':
      return matchesAsGaia(prediction, trueAnswer);
    case 'exact':
      return prediction.trim() === trueAnswer.trim();
    case 'number':
      return isNear(prediction, trueAnswer, tolerance ?? 0);
    case 'regex':
      return matchesPattern(prediction, trueAnswer);
    case 'json_schema':
      return matchesSchema(prediction, trueAnswer);
  }
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A number without the signs of units that GAIA's own scorer ignores. */
const readNumber = (text: string): number | undefined => {
  const plain = text.replaceAll(/[$%,]/g, '').trim();
  return decimal.test(plain) ? Number(plain) : undefined;
};

const isNumber = (text: string): boolean => decimal.test(text.trim());
const withoutSpace = (text: string): string => text.replaceAll(/\s/g, '').toLowerCase();
const withoutPunctuation = (text: string): string => withoutSpace(text).replaceAll(/[!-/:-@[-`{-~]/g, '');

/**
 * The normalised match that GAIA's leaderboard applies (https://huggingface.co/spaces/gaia-benchmark/leaderboard, scorer.py):
 * numbers by value, lists by their elements in order, other text without space, case and punctuation.
 */
function matchesAsGaia(prediction: string, trueAnswer: string): boolean {
  if (isNumber(trueAnswer)) return readNumber(prediction) === Number(trueAnswer);
  if (!/[,;]/.test(trueAnswer)) return withoutPunctuation(prediction) === withoutPunctuation(trueAnswer);
  const [said, wanted] = [prediction.split(/[,;]/), trueAnswer.split(/[,;]/)];
  return (
    said.length === wanted.length &&
    wanted.every((element, index) => {
      const other = said[index] ?? '';
      return isNumber(element) ? readNumber(other) === Number(element) : withoutSpace(other) === withoutSpace(element);
    })
  );
}

function isNear(prediction: string, trueAnswer: string, tolerance: number): boolean {
  const [said, wanted] = [readNumber(prediction), readNumber(trueAnswer)];
  return said !== undefined && wanted !== undefined && Math.abs(said - wanted) <= tolerance;
}

/** One that takes too long on what a model has written does not match. Throws where the pattern is none. */
function matchesPattern(prediction: string, pattern: string): boolean {
  try {
    return matches(pattern, prediction);
  } catch (error) {
    if (error instanceof SlowPatternError) return false;
    throw error;
  }
}
