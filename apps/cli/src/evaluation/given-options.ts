import { type Given, UsageError } from '../command';
import { type CommandScorer, commandScorers, isCommandScorer } from './task';

/** How tasks are compared, if the command line says so. */
export function findScorer(given: Given): CommandScorer | undefined {
  const scorer = given.value('scorer');
  if (scorer === undefined || isCommandScorer(scorer)) return scorer;
  const others = 'Tasks with patterns and schemas say so themselves.';
  throw new UsageError(`--scorer is one of ${commandScorers.join(', ')}, not ${scorer}. ${others}`);
}
