import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { NewRun, Rondo, Run } from '@rondo/client';
import { findError, findResponse, sumUsage, waitForEnd } from './ended-run';
import type { EvaluationLog } from './evaluation-log';
import type { TaskResult } from './result';
import type { EvaluationTask, Scorer } from './task';

/** What every task is run with. */
export interface TaskSettings {
  readonly run: Omit<NewRun, 'input'>;
  readonly agentName: string | null;
  /** Runs of one evaluation begin with the same version. */
  readonly agentVersion: number | null;
  /** The text around the question, which is at `{question}`. */
  readonly prompt: string;
  readonly scorer: Scorer;
}

export const defaultPrompt =
  'You have one question to answer. It is paramount that you provide a correct answer. Use your tools to find it and to check ' +
  'it; there is no person to ask. End with a line `FINAL ANSWER: …` that has nothing but the answer: a number without ' +
  'separators and units unless they are asked for, as few words as possible, or a list of these separated by commas.\n\n' +
  'Here is the task:\n\n{question}';

interface Work {
  readonly rondo: Rondo;
  readonly log: EvaluationLog<TaskResult>;
  readonly settings: TaskSettings;
  /** Ends the waiting, and not the run. */
  readonly signal: AbortSignal;
}

/** Runs a task, or waits for the run that it already has, and writes its result down. */
export async function runTask(task: EvaluationTask, work: Work): Promise<TaskResult> {
  const { rondo, log, settings, signal } = work;
  const input = settings.prompt.replace('{question}', () => task.question);
  const runId = await readRun(task, input, work);
  const run = await waitForEnd(runId, rondo, signal);
  const result = { ...(await resultOfRun(run, rondo)), ...aboutTask(task, input, settings) };
  log.recordResult(result);
  return result;
}

async function readRun(task: EvaluationTask, input: string, { rondo, log, settings, signal }: Work): Promise<string> {
  const attempt = log.toAttempt(task.taskId);
  if (attempt.run_id !== null) return attempt.run_id;
  const attachments = await Promise.all(
    task.files.map(async (path) => new File([await readFile(path)], basename(path))),
  );
  const run = await rondo.runs.create(
    { ...settings.run, input, metadata: toMetadata(task) },
    { attachments, idempotencyKey: log.toKey(attempt), signal },
  );
  log.recordStart(attempt, run.id);
  return run.id;
}

/** All questions of an evaluation may begin with the same words, those of its prompt: its title tells one run from the others. */
const toMetadata = ({ taskId, question }: EvaluationTask) => ({
  evaluation_task: taskId.slice(0, 500),
  title: `${taskId}: ${question}`.replaceAll(/\s+/g, ' ').slice(0, 140),
});

const toTime = (moment: string): string => moment.slice(0, 19).replace('T', ' ');

async function resultOfRun(run: Run, rondo: Rondo) {
  const { started_at: started, finished_at: finished, created_at: created } = run;
  const usage = await sumUsage(run, rondo);
  const response = await findResponse(run, rondo);
  return {
    prediction: response === null ? null : answerIn(response),
    iteration_limit_exceeded: run.finish_reason === 'max_iterations',
    agent_error: findError(run),
    start_time: toTime(started ?? created),
    end_time: toTime(finished ?? created),
    token_counts: { input: usage.input_tokens, cached: usage.cached_tokens, output: usage.output_tokens },
    workspace_id: run.thread_id,
    run_id: run.id,
    model: run.model,
    cost_usd: usage.cost_usd,
    duration_s: started === null || finished === null ? null : (Date.parse(finished) - Date.parse(started)) / 1000,
  };
}

/** What follows the last mark, or all of it. */
export function answerIn(response: string): string {
  const marked = response.split(/FINAL ANSWER\s*:/i);
  const last = marked.at(-1) ?? '';
  return (marked.length > 1 ? last : response).trim();
}

const aboutTask = (task: EvaluationTask, input: string, { agentName, scorer }: TaskSettings) => ({
  agent_name: agentName,
  question: task.question,
  augmented_question: input,
  task: task.level,
  task_id: task.taskId,
  true_answer: task.trueAnswer,
  scorer: task.scorer ?? scorer,
  tolerance: task.tolerance,
});
