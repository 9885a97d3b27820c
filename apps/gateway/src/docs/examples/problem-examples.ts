import { type ProblemBody, type ProblemCode, problem, problemStatus } from '../../problems/problems';
import { exampleBalance, exampleIds as ids } from '@rondo/contract/api';

/** What some problems say beside their code. */
const details: Partial<Record<ProblemCode, Omit<Partial<ProblemBody>, 'code'>>> = {
  invalid_request: {
    detail: 'limits.max_iterations is not valid.',
    errors: [{ field: 'limits.max_iterations', message: 'Too small: expected number to be >=1' }],
  },
  thread_busy: { detail: 'The thread has an active run.', active_run_id: ids.run },
  balance_exhausted: {
    detail: 'The tier free allows 5 USD per month, and this account has spent 5.0100 USD and has no credit left.',
    balance: { ...exampleBalance, spent_usd: 5.01, reserved_usd: 0, credit_usd: 0, available_usd: -0.01 },
  },
  model_not_allowed: {
    detail: 'The tier free does not allow this model.',
    allowed_models: ['openai/gpt-5-mini'],
  },
};

const codes = Object.keys(problemStatus) as ProblemCode[]; // its own keys

/** An example of each problem, by its code. */
export const problemExamples: Readonly<Record<string, ProblemBody>> = Object.fromEntries(
  codes.map((code) => [code, { ...problem(code), ...details[code] }]),
);
