import { runInNewContext } from 'node:vm';
import type { Scorer } from './task';

export interface Comparison {
  readonly prediction: string;
  readonly trueAnswer: string;
  readonly scorer: Scorer;
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
  }
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A number without the signs of units that GAIA's own scorer ignores. */
const numberOf = (text: string): number | undefined => {
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
  if (isNumber(trueAnswer)) return numberOf(prediction) === Number(trueAnswer);
  if (!/[,;]/.test(trueAnswer)) return withoutPunctuation(prediction) === withoutPunctuation(trueAnswer);
  const [said, wanted] = [prediction.split(/[,;]/), trueAnswer.split(/[,;]/)];
  return (
    said.length === wanted.length &&
    wanted.every((element, index) => {
      const other = said[index] ?? '';
      return isNumber(element) ? numberOf(other) === Number(element) : withoutSpace(other) === withoutSpace(element);
    })
  );
}

function isNear(prediction: string, trueAnswer: string, tolerance: number): boolean {
  const [said, wanted] = [numberOf(prediction), numberOf(trueAnswer)];
  return said !== undefined && wanted !== undefined && Math.abs(said - wanted) <= tolerance;
}

const patternTimeoutMs = 1_000;

/**
 * A pattern can take any time on what a model has written: one that takes longer than a second does not match. Throws where the
 * pattern is none.
 */
function matchesPattern(prediction: string, pattern: string): boolean {
  try {
    const timeout = patternTimeoutMs;
    return runInNewContext(
      'new RegExp(pattern, "u").test(text)',
      { pattern, text: prediction },
      { timeout },
    ) as boolean; // as `test` does
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
