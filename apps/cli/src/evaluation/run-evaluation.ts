import type { Rondo } from '@rondo/client';
import type { Terminal } from '../terminal';
import type { EvaluationLog } from './evaluation-log';
import { type TaskResult, verdictOf } from './result';
import { type TaskSettings, runTask } from './run-task';
import { summaryOf } from './summary';
import type { EvaluationTask } from './task';

export interface Evaluation {
  readonly tasks: readonly EvaluationTask[];
  readonly log: EvaluationLog;
  readonly settings: TaskSettings;
  /** How many tasks run at a time. */
  readonly concurrency: number;
  readonly rondo: Rondo;
  readonly terminal: Terminal;
}

/** Runs the tasks that have no result yet. The first error of a request ends it after the tasks in progress. */
export async function runEvaluation(evaluation: Evaluation): Promise<void> {
  const { tasks, log, concurrency, terminal } = evaluation;
  const open = tasks.filter(({ taskId }) => !log.isDone(taskId));
  if (open.length < tasks.length)
    terminal.note(`${tasks.length - open.length} of ${tasks.length} tasks have a result already.`);
  const progress = new Progress(open.length, concurrency);
  const queue = open.values();
  const failure = new AbortController();
  const worker = async () => {
    for (const task of queue) {
      if (failure.signal.aborted) return;
      try {
        const result = await runTask(task, evaluation);
        terminal.note(progress.lineOf(result));
        if (terminal.isJson) terminal.json(result);
      } catch (error) {
        failure.abort();
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failed = workers.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

/** What has been done by this process, and what is left. */
class Progress {
  private readonly results: TaskResult[] = [];
  private readonly since = Date.now();

  constructor(
    private readonly total: number,
    private readonly concurrency: number,
  ) {}

  lineOf(result: TaskResult): string {
    this.results.push(result);
    const done = this.results.length;
    const verdict =
      result.agent_error ?? { true: 'right', false: 'wrong', undefined: 'answered' }[`${verdictOf(result)}`];
    const { costUsd, unpriced } = summaryOf(this.results);
    const elapsedS = (Date.now() - this.since) / 1000;
    const minutes = ((elapsedS / done) * (this.total - done)) / 60;
    const left = done < this.total && done >= this.concurrency ? ` · about ${Math.ceil(minutes)} min left` : '';
    const cost =
      unpriced === done ? '' : ` · $${costUsd.toFixed(4)}, about $${((costUsd / done) * this.total).toFixed(2)} in all`;
    return `${done}/${this.total} ${result.task_id}: ${verdict}${cost}${left}`;
  }
}
