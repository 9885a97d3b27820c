import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EvaluationLog } from './evaluation-log';
import { type TaskResult, resultFormat } from './result';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rondo-evaluation-'));
  path = join(folder, 'output/test.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (model = 'demo/plain') => EvaluationLog.open(path, { model }, resultFormat);

const result = (taskId: string, error: string | null = null): TaskResult => ({
  agent_name: null,
  question: 'Why?',
  augmented_question: 'Why?',
  prediction: error === null ? '4' : null,
  iteration_limit_exceeded: false,
  agent_error: error,
  task: '1',
  task_id: taskId,
  true_answer: '4',
  start_time: '2026-01-31 12:00:00',
  end_time: '2026-01-31 12:00:01',
  token_counts: { input: 1, cached: 0, output: 1 },
  workspace_id: 'thr_1',
  run_id: `run_${taskId}`,
  model: 'demo/plain',
  cost_usd: 0.1,
  duration_s: 1,
  scorer: 'gaia',
  tolerance: null,
});

describe('the log of an evaluation', () => {
  it('goes on with the run that a killed runner has started, and with the key of a request without an answer', () => {
    const before = open();
    before.recordStart(before.toAttempt('a'), 'run_a');
    const key = before.toKey(before.toAttempt('b'));

    const after = open();

    expect(after.toAttempt('a')).toEqual({ task_id: 'a', attempt: 1, run_id: 'run_a' });
    expect(after.toKey(after.toAttempt('b'))).toBe(key);
  });

  it('drops the end of a line that was not written whole', () => {
    open().recordResult(result('a'));
    appendFileSync(path, JSON.stringify(result('b')).slice(0, 50));

    const after = open();
    after.recordResult(result('c'));

    expect([after.isDone('a'), after.isDone('b')]).toEqual([true, false]);
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(2);
  });

  it('asks again what ended with an error, as a new request, also if the runner is killed before it', () => {
    const before = open();
    before.recordStart(before.toAttempt('a'), 'run_a');
    const key = before.toKey(before.toAttempt('a'));
    before.recordResult(result('a', 'timeout: too late'));
    before.recordResult(result('b'));
    before.askAgain(({ agent_error: error }) => error !== null);

    const after = open();

    expect([after.isDone('a'), after.isDone('b')]).toEqual([false, true]);
    expect(after.toAttempt('a')).toEqual({ task_id: 'a', attempt: 2, run_id: null });
    expect(after.toKey(after.toAttempt('a'))).not.toBe(key);
  });

  it('is of one setting', () => {
    open();

    expect(() => open('demo/coder')).toThrow(/was begun with other settings: .*demo\/plain/);
  });
});
