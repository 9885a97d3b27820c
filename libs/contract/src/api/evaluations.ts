import { z } from 'zod';
import { answeredBy, evaluation, evaluationName, evaluationWithResults, taskResult } from '../evaluation';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import type { PathParam } from './path-params';
import { type ApiSchemas, defineRoutes } from './route';

/** The most tasks of one evaluation, and the most evaluations of an account. */
export const evaluationLimits = { tasks: 1_000, evaluations: 500 } as const;

const hasEachOnce = (results: readonly { task_id: string }[]): boolean =>
  new Set(results.map(({ task_id: id }) => id)).size === results.length;

const storedEvaluation = z.strictObject({
  agent: answeredBy.shape.agent.default(null),
  model: answeredBy.shape.model.default(null),
  results: z.array(taskResult).min(1).max(evaluationLimits.tasks).refine(hasEachOnce, 'names a task twice'),
});

const evaluationPage = createPage(evaluation);

const name = { schema: evaluationName, property: 'name', example: 'before' } as const satisfies PathParam;

export const evaluations = defineRoutes('evaluations', {
  storeEvaluation: {
    method: 'PUT',
    path: '/v1/evaluations/by-name/{name}',
    summary: 'Store what an evaluation has found, in place of what has this name',
    description: 'The gateway starts no run for it and compares nothing: a program does, for example `rondo eval run`.',
    audit: 'evaluation.store',
    params: { name },
    body: storedEvaluation,
    answers: { 200: { body: evaluation } },
    problems: ['too_many_evaluations'],
  },
  listEvaluations: {
    method: 'GET',
    path: '/v1/evaluations',
    summary: 'List evaluations, newest first',
    query: pageQuery,
    answers: { 200: { body: evaluationPage } },
  },
  getEvaluation: {
    method: 'GET',
    path: '/v1/evaluations/{evaluation_id}',
    summary: 'Read an evaluation with the result of each task',
    answers: { 200: { body: evaluationWithResults } },
  },
  deleteEvaluation: {
    method: 'DELETE',
    path: '/v1/evaluations/{evaluation_id}',
    summary: 'Delete an evaluation; its runs stay',
    audit: 'evaluation.delete',
    answers: { 204: {} },
  },
});

const at = '2026-11-25T09:00:00.000Z';

const exampleResult = {
  task_id: 'capital',
  verdict: 'right',
  run_id: ids.run,
  prediction: 'Paris',
  expected: 'Paris',
  error: null,
  level: '1',
  cost_usd: 0.0021,
  duration_s: 3.4,
};

const example = {
  id: ids.evaluation,
  name: 'before',
  agent: 'researcher',
  model: 'demo/plain',
  tasks: 1,
  scored: 1,
  right: 1,
  unjudged: 0,
  errors: 0,
  cost_usd: 0.0021,
  created_at: at,
  updated_at: at,
};

export const evaluationSchemas: ApiSchemas = {
  shared: { EvaluatedTask: taskResult },
  requests: { EvaluationToStore: storedEvaluation },
  answers: {
    Evaluation: evaluation,
    EvaluationPage: evaluationPage,
    EvaluationWithResults: evaluationWithResults,
  },
  examples: {
    EvaluatedTask: exampleResult,
    EvaluationToStore: { agent: 'researcher', model: 'demo/plain', results: [exampleResult] },
    Evaluation: example,
    EvaluationWithResults: { ...example, results: [exampleResult] },
  },
};
