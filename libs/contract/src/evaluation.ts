import { z } from 'zod';
import { evaluationId, runId } from './ids';

const text = (most: number) => z.string().max(most).nullable();

/** How an answer was found to be. `unknown`: the task has no true answer. `unjudged`: no judge has said so yet. */
export const verdict = z.enum(['right', 'wrong', 'unknown', 'unjudged']);

/** What an evaluation found of one task. */
export const taskResult = z.strictObject({
  task_id: z.string().min(1).max(500),
  verdict,
  run_id: runId.nullable().describe('The run that answered it. It may have been deleted since.'),
  prediction: text(2_000).describe('The answer; null if there is none.'),
  expected: text(2_000).describe('The true answer, or what it is compared with.'),
  error: text(2_000).describe('Why the run did not complete.'),
  level: text(100),
  cost_usd: z.number().nonnegative().nullable(),
  duration_s: z.number().nonnegative().nullable(),
});
export type TaskResult = z.infer<typeof taskResult>;

export const evaluationName = z
  .string()
  .max(100)
  .regex(/^[\w.-]+$/, 'letters, digits, dots, dashes and underscores');

/** Who answered. */
export const answeredBy = z.object({ agent: text(200), model: text(200) });

const count = z.number().int().nonnegative();

export const evaluationSummary = answeredBy.extend({
  tasks: count,
  scored: count.describe('Those whose answer is right or wrong.'),
  right: count,
  unjudged: count,
  errors: count,
  cost_usd: z.number().describe('Of the tasks whose cost is known.'),
});
export type EvaluationSummary = z.infer<typeof evaluationSummary>;

/** What a program that evaluates agents has stored under a name. */
export const evaluation = z.object({
  id: evaluationId,
  name: evaluationName,
  ...evaluationSummary.shape,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Evaluation = z.infer<typeof evaluation>;

export const evaluationWithResults = evaluation.extend({ results: z.array(taskResult) });
export type EvaluationWithResults = z.infer<typeof evaluationWithResults>;
