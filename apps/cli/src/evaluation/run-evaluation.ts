import type { Rondo } from '@rondo/client';
import type { Terminal } from '../terminal';
import { concurrently } from './concurrently';
import type { EvaluationLog } from './evaluation-log';
import { Progress, type Step } from './progress';
import type { TaskResult } from './result';
import { type TaskSettings, runTask } from './run-task';
import { scored } from './scored-result';
import type { EvaluationTask } from './task';

export interface Evaluation {
  readonly tasks: readonly EvaluationTask[];
  readonly log: EvaluationLog<TaskResult>;
  readonly settings: TaskSettings;
  /** How many tasks run at a time. */
  readonly concurrency: number;
  readonly rondo: Rondo;
  /** Ends the waiting, and no run. */
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  /** Only problems are said. */
  readonly isQuiet: boolean;
  /** Gets a line for each task that is over. */
  readonly taskLog?: ((line: string) => void) | undefined;
}

/** Runs the tasks that have no result yet. The first error of a request ends it after the tasks in progress. */
export async function runEvaluation(evaluation: Evaluation): Promise<void> {
  const { tasks, log, concurrency, terminal, isQuiet, taskLog } = evaluation;
  const open = tasks.filter(({ taskId }) => !log.isDone(taskId));
  if (open.length < tasks.length)
    terminal.note(`${tasks.length - open.length} of ${tasks.length} tasks have a result already.`);
  const progress = new Progress(terminal, open.length, { concurrency, isQuiet, log: taskLog });
  try {
    await concurrently(open, concurrency, async (task) => {
      const result = await runTask(task, evaluation);
      progress.finished(toStep(result));
      if (terminal.isJson) terminal.json(result);
    });
  } finally {
    progress.end();
  }
}

function toStep(result: TaskResult): Step {
  const { task_id: name, agent_error: error, cost_usd: costUsd } = result;
  const [{ verdict } = { verdict: 'unknown' }] = scored([result]);
  const isKnown = verdict === 'right' || verdict === 'wrong';
  return { name, outcome: error ?? (isKnown ? verdict : 'answered'), costUsd, isProblem: error !== null };
}
