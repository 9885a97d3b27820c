import type { TaskResult } from './result';
import { answerIn } from './run-task';
import { scoreResults } from './scored-result';
import { compareResults, toSummary, toSentence } from './summary';

const result = (taskId: string, prediction: string | null, trueAnswer: string | null = '4'): TaskResult =>
  ({
    task_id: taskId,
    run_id: `run_${taskId}`,
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
    const results = [result('a', '4'), result('b', null), result('c', '4', null), result('unpriced', '5')];
    const summary = toSummary(scoreResults(results));

    expect(summary).toMatchObject({ tasks: 4, scored: 3, right: 1, errors: 1, costUsd: 1.5, unpriced: 1, seconds: 8 });
    expect(summary).toMatchObject({ inputTokens: 40, outputTokens: 20 });
  });

  it('compares the tasks that both have', () => {
    const before = [result('a', '4'), result('b', '5'), result('c', '5'), result('d', '4')];
    const after = [result('a', '5'), result('b', '4'), result('c', '4'), result('e', '4')];

    expect(compareResults(scoreResults(before), scoreResults(after))).toMatchObject({
      tasks: 3,
      difference: 1 / 3,
      changes: [
        { taskId: 'a', change: 'lost' },
        { taskId: 'b', change: 'gained' },
        { taskId: 'c', change: 'gained' },
      ],
    });
  });

  it('counts what the judge has not judged as neither right nor wrong, and its cost apart', () => {
    const results = ['a', 'b', 'c'].map((id) => ({ ...result(id, 'four'), scorer: 'judge' as const }));
    const judgement = { reason: '', run_id: 'run_judge', model: 'demo/judge', cost_usd: 0.01 };
    const judgements = [
      { ...judgement, task_id: 'a', judged_run_id: 'run_a', verdict: 'right' as const },
      { ...judgement, task_id: 'b', judged_run_id: 'run_b', verdict: 'unjudged' as const, cost_usd: null },
      { ...judgement, task_id: 'c', judged_run_id: 'run_of_an_earlier_attempt', verdict: 'right' as const },
    ];

    const summary = toSummary(scoreResults(results, { judgements }));

    expect(summary).toMatchObject({ scored: 1, right: 1, unjudged: 2, costUsd: 1.5 });
    expect(summary.judging).toEqual({ answers: 2, costUsd: 0.01, unpriced: 1 });
    expect(toSentence(summary)).toMatch(
      /^3 tasks: 1 of 1 right .*, 2 unjudged, 0 errors, \$1\.5000 and \$0\.0100 \(1 unknown\) for the judge\.$/,
    );
  });

  it.each([
    ['I think.\nFINAL ANSWER: 42\n', '42'],
    ['FINAL ANSWER: 1\nNo. Final answer : 2', '2'],
    ['Just this. ', 'Just this.'],
  ])('the answer in %j is %j', (response, answer) => {
    expect(answerIn(response)).toBe(answer);
  });
});
