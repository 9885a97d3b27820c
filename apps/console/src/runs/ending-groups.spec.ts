import { toRun } from '../../bench/synthetic-run.mjs';
import { groupEndings } from './ending-groups';

type Run = Parameters<typeof groupEndings>[0][number];

const run = (more: Partial<Run>) => ({ ...(toRun('failed', 1) as Run), error: null, ...more });
const failed = (code: string, message: string, model = 'demo/a') =>
  run({ status: 'failed', finish_reason: 'error', model, error: { code, message } });

it('runs that ended badly are grouped by kind, whatever ids and numbers they name', () => {
  const groups = groupEndings([
    failed('timeout', 'No answer in 30 s of run_01M8AAAAAAAAAAAAAAAAAAAAAA.', 'demo/b'),
    failed('not_found', 'The model "x" does not exist.'),
    failed('timeout', 'No answer in 60 s of run_01M8BBBBBBBBBBBBBBBBBBBBBB.'),
    run({ status: 'completed', finish_reason: 'budget_exceeded', model: 'demo/a' }),
    run({ status: 'completed', finish_reason: 'stop' }),
    run({ status: 'stopped', finish_reason: 'stopped' }),
    run({ status: 'running', finish_reason: null }),
  ]);

  expect(groups.map(({ kind, sentence, models, runs }) => [kind, sentence, models, runs.length])).toEqual([
    ['timeout', 'No answer in 30 s of run_01M8AAAAAAAAAAAAAAAAAAAAAA.', ['demo/a', 'demo/b'], 2],
    ['not_found', 'The model "x" does not exist.', ['demo/a'], 1],
    ['budget_exceeded', 'The next request was not covered by what the run or its account may spend.', ['demo/a'], 1],
  ]);
});
