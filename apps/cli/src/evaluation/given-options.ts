import { type Given, UsageError } from '../command';
import { type CommandScorer, commandScorers, isCommandScorer } from './task';

/** A number of the command line, at least `least`. */
export function numberOf(given: Given, name: string, least: number): number | undefined {
  const text = given.value(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < least)
    throw new UsageError(`--${name} is a number of at least ${least}, not ${text}.`);
  return value;
}

export function countOf(given: Given, name: string, least: number): number | undefined {
  const count = numberOf(given, name, least);
  if (count !== undefined && !Number.isInteger(count)) throw new UsageError(`--${name} is a whole number.`);
  return count;
}

/** How tasks are compared, if the command line says so. */
export function scorerOf(given: Given): CommandScorer | undefined {
  const scorer = given.value('scorer');
  if (scorer === undefined || isCommandScorer(scorer)) return scorer;
  const others = 'Tasks with patterns and schemas say so themselves.';
  throw new UsageError(`--scorer is one of ${commandScorers.join(', ')}, not ${scorer}. ${others}`);
}
