import type { Rondo } from '@rondo/client';
import { concurrently } from './concurrently';
import { waitForEnd, findError, findResponse } from './ended-run';
import { EvaluationLog } from './evaluation-log';
import { JudgeQuestion, judgeInstructions, longestQuestion } from './judge-question';
import { type Judgement, judgementFormat, judgementsPath } from './judgement';
import type { Progress } from './progress';
import type { TaskResult } from './result';
import { whileLocked } from './runner-lock';

export interface Judging {
  /** The file of the results. */
  readonly path: string;
  /** Those with an answer that the judge compares. */
  readonly results: readonly TaskResult[];
  readonly model: string;
  /** What the judge goes by. */
  readonly prompt: string;
  readonly concurrency: number;
  /** Asks again where a judge said nothing that can be read. */
  readonly retry: boolean;
  readonly rondo: Rondo;
  /** Ends the waiting, and no run. */
  readonly signal: AbortSignal;
  readonly toProgress: (total: number) => Progress;
}

interface Work {
  readonly log: EvaluationLog<Judgement>;
  readonly judging: Judging;
}

/** Asks the judge about each answer that it has not judged. Killed and started again, it asks nothing twice. */
export async function judgeAnswers(judging: Judging): Promise<readonly Judgement[]> {
  const { path, results, model, prompt, retry, concurrency } = judging;
  const file = judgementsPath(path);
  return whileLocked(file, async () => {
    const log = EvaluationLog.open(file, { model, prompt }, judgementFormat);
    const runs = new Set(results.map(({ run_id: id }) => id));
    if (retry) log.askAgain(({ judged_run_id: id, verdict }) => verdict === 'unjudged' && runs.has(id));
    const open = results.filter(({ run_id: id }) => !log.isDone(id));
    const progress = judging.toProgress(open.length);
    try {
      await concurrently(open, concurrency, async (result) => {
        const judgement = await judge(result, { log, judging });
        log.recordResult(judgement);
        const { verdict, cost_usd: costUsd, reason } = judgement;
        const outcome = verdict === 'unjudged' ? `unjudged: ${reason}` : verdict;
        progress.showResult({ name: result.task_id, outcome, costUsd, isProblem: verdict === 'unjudged' });
      });
    } finally {
      progress.end();
    }
    return log.results;
  });
}

async function judge(result: TaskResult, { log, judging }: Work): Promise<Judgement> {
  const { rondo, signal } = judging;
  const attempt = log.toAttempt(result.run_id);
  const key = log.toKey(attempt);
  const question = new JudgeQuestion(result, key);
  const about = { task_id: result.task_id, judged_run_id: result.run_id };
  if (question.text.length > longestQuestion) {
    const reason = `the question and the answers have ${question.text.length} characters`;
    return { ...about, verdict: 'unjudged', reason, run_id: null, model: null, cost_usd: null };
  }
  const runId = attempt.run_id ?? (await start(question, key, judging));
  if (attempt.run_id === null) log.recordStart(attempt, runId);
  const run = await waitForEnd(runId, rondo, signal);
  const reply = await findResponse(run, rondo);
  const found = reply === null ? undefined : question.read(reply);
  const missing = findError(run) ?? 'its reply has no verdict of the form that was asked for';
  return {
    ...about,
    ...(found ?? { verdict: 'unjudged', reason: missing }),
    ...{ run_id: runId, model: run.model, cost_usd: run.usage.cost_usd },
  };
}

/** A run without tools, so that an answer that misleads the judge can do nothing else. */
async function start({ text }: JudgeQuestion, key: string, judging: Judging): Promise<string> {
  const { rondo, model, prompt, signal } = judging;
  const agent = { system_prompt: judgeInstructions(prompt) };
  const metadata = { evaluation: 'judge' };
  const run = await rondo.runs.create(
    { model, agent, tools: [], interactive: false, input: text, metadata },
    { idempotencyKey: key, signal },
  );
  return run.id;
}
