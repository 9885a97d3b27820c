import { type Given, UsageError } from '../command';

/** How an answer is compared with the true one. */
export const scorers = ['gaia', 'exact', 'number', 'regex', 'json_schema', 'judge'] as const;
export type Scorer = (typeof scorers)[number];

export const isScorer = (text: unknown): text is Scorer => scorers.includes(text as Scorer);

/** Those that a command may name for tasks that name none: the others need a true answer of a form of its own. */
const commandScorers = ['gaia', 'exact', 'number', 'judge'] as const satisfies readonly Scorer[];
export type CommandScorer = (typeof commandScorers)[number];

const isCommandScorer = (text: string): text is CommandScorer => (commandScorers as readonly string[]).includes(text);

/** One question of a dataset. */
export interface EvaluationTask {
  /** Unique in its dataset. */
  readonly taskId: string;
  readonly question: string;
  /** Null where it is not published, as in test splits. A pattern where the scorer is `regex`, JSON where it is `json_schema`. */
  readonly trueAnswer: string | null;
  readonly level: string | null;
  /** Paths of the files that the run gets. */
  readonly files: readonly string[];
  /** Null: the one of the command. */
  readonly scorer: Scorer | null;
  /** How far a `number` may be from the true one. */
  readonly tolerance: number | null;
}

/** How tasks are compared, if the command line says so. */
export function findScorer(given: Given): CommandScorer | undefined {
  const scorer = given.value('scorer');
  if (scorer === undefined || isCommandScorer(scorer)) return scorer;
  const others = 'Tasks with patterns and schemas say so themselves.';
  throw new UsageError(`--scorer is one of ${commandScorers.join(', ')}, not ${scorer}. ${others}`);
}
