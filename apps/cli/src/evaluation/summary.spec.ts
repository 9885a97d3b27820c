import type { TaskResult } from './result';
import { answerIn } from './run-task';
import { compareResults, summaryOf } from './summary';

const result = (taskId: string, prediction: string | null, trueAnswer: string | null = '4'): TaskResult =>
  ({
    task_id: taskId,
    prediction,
    true_answer: trueAnswer,
    agent_error: prediction === null ? 'failed' : null,
    token_counts: { input: 10, cached: 0, output: 5 },
    cost_usd: taskId === 'unpriced' ? null : 0.5,
    duration_s: 2,
    scorer: 'gaia',
    tolerance: null,
  }) as unknown as TaskResult; // the fields that are summed up

describe('the sum of an evaluation', () => {
  it('counts a task without an answer as wrong, and none whose true answer is unknown', () => {
    const summary = summaryOf([result('a', '4'), result('b', null), result('c', '4', null), result('unpriced', '5')]);

    expect(summary).toMatchObject({ tasks: 4, scored: 3, right: 1, errors: 1, costUsd: 1.5, unpriced: 1, seconds: 8 });
    expect(summary).toMatchObject({ inputTokens: 40, outputTokens: 20 });
  });

  it('compares the tasks that both have', () => {
    const before = [result('a', '4'), result('b', '5'), result('c', '5'), result('d', '4')];
    const after = [result('a', '5'), result('b', '4'), result('c', '4'), result('e', '4')];

    expect(compareResults(before, after)).toMatchObject({
      tasks: 3,
      difference: 1 / 3,
      changes: [
        { taskId: 'a', change: 'lost' },
        { taskId: 'b', change: 'gained' },
        { taskId: 'c', change: 'gained' },
      ],
    });
  });

  it.each([
    ['I think.\nFINAL ANSWER: 42\n', '42'],
    ['FINAL ANSWER: 1\nNo. Final answer : 2', '2'],
    ['Just this. ', 'Just this.'],
  ])('the answer in %j is %j', (response, answer) => {
    expect(answerIn(response)).toBe(answer);
  });
});
