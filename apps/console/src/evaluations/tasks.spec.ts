import type { EvaluatedTask } from '@rondo/client';
import { compareInWords, pairTasks, selectTasks } from './tasks';

const task = (task_id: string, verdict: EvaluatedTask['verdict'], error: string | null = null): EvaluatedTask => ({
  ...{ task_id, verdict, error, run_id: null, prediction: null, expected: null, level: null },
  ...{ cost_usd: null, duration_s: null },
});

describe('the tasks of two evaluations', () => {
  const now = [task('a', 'right'), task('b', 'wrong', 'It ended.'), task('c', 'right'), task('d', 'unjudged')];
  const before = [task('a', 'wrong'), task('b', 'right'), task('d', 'right'), task('e', 'right')];
  const pairs = pairTasks(now, before);
  const ids = (group?: Parameters<typeof selectTasks>[1]) => selectTasks(pairs, group).map((pair) => pair.task.task_id);

  it('are selected by what became of them', () => {
    expect(ids()).toEqual(['a', 'b', 'c', 'd']);
    expect([ids('wrong'), ids('failed'), ids('gained'), ids('lost')]).toEqual([['b'], ['b'], ['a'], ['b']]);
  });

  it('are counted where both have scored them', () => {
    expect(compareInWords(pairs)).toBe('1 gained and 1 lost of the 2 tasks that both have scored.');
  });
});
