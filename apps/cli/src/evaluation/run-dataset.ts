import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, Rondo } from '@rondo/client';
import { type Context, type Given, UsageError } from '../command';
import { agentNamed } from '../commands/agents';
import type { Ending } from '../exit-codes';
import { hasItsTools } from './missing-tools';
import { EvaluationLog } from './evaluation-log';
import { readCount, readNumber } from '../parse-arguments';
import { findScorer, type EvaluationTask } from './task';
import { readJudgements, readResults, resultFormat, type TaskResult } from './result';
import { readDataset, selectTasks } from './dataset';
import { type TaskSettings, defaultPrompt, runTask } from './run-task';
import { whileLocked } from './runner-lock';
import { scoreResults } from './scored-result';
import { storeResults } from './store-results';
import { toSummary, toSentence } from './summary';
import { type Step, openTaskLog, Progress } from './progress';
import { untilInterrupted } from './until-interrupted';
import type { Terminal } from '../terminal';
import { concurrently } from './concurrently';

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
      progress.showResult(toStep(result));
      if (terminal.isJson) terminal.json(result);
    });
  } finally {
    progress.end();
  }
}

function toStep(result: TaskResult): Step {
  const { task_id: name, agent_error: error, cost_usd: costUsd } = result;
  const [{ verdict } = { verdict: 'unknown' }] = scoreResults([result]);
  const isKnown = verdict === 'right' || verdict === 'wrong';
  return { name, outcome: error ?? (isKnown ? verdict : 'answered'), costUsd, isProblem: error !== null };
}

function toPrompt(given: Given): string {
  const file = given.value('prompt');
  if (file === undefined) return defaultPrompt;
  const prompt = readFileSync(file, 'utf8');
  if (!prompt.includes('{question}')) throw new UsageError(`${file} does not say where the {question} is.`);
  return prompt;
}

function toSettings(given: Given, agent: Agent | undefined): TaskSettings {
  const scorer = findScorer(given) ?? 'gaia';
  const [model, profile] = ['model', 'profile'].map((option) => given.value(option));
  const budget = readNumber(given, 'budget', 0);
  const ofAgent = agent?.definition.limits?.max_iterations;
  const iterations = readCount(given, 'max-iterations', 1) ?? (ofAgent === undefined ? 200 : undefined);
  return {
    prompt: toPrompt(given),
    scorer,
    agentName: agent?.definition.name ?? null,
    agentVersion: agent?.version ?? null,
    run: {
      interactive: false,
      ...(iterations !== undefined && { limits: { max_iterations: iterations } }),
      ...(model !== undefined && { model }),
      ...(profile !== undefined && { profile: profile as 'ii' }), // the gateway refuses one that it does not have
      ...(agent && { agent_id: agent.id }),
      ...(budget !== undefined && { budget: { usd: budget, on_exceeded: 'end' } }),
    },
  };
}

/** Runs the tasks of a dataset that have no result yet. */
export async function runDataset(given: Given, context: Context): Promise<Ending> {
  const split = given.value('split') ?? 'validation';
  if (!/^[\w.-]+$/.test(split)) throw new UsageError('--split is a name.');
  const name = given.value('name') ?? 'evaluation';
  if (!/^[\w.-]+$/.test(name)) throw new UsageError('--name has letters, digits, dots, dashes and underscores.');
  const tasks = selectTasks(readDataset(given.args[0] ?? '', split), {
    start: readCount(given, 'start', -Infinity),
    end: readCount(given, 'end', -Infinity),
    taskIds: given.values('task'),
  });
  const concurrency = readCount(given, 'concurrency', 1) ?? 1;
  const agentName = given.value('agent');
  const agent = agentName === undefined ? undefined : await agentNamed(agentName, context);
  const settings = toSettings(given, agent);
  if (!(await hasItsTools(agent, given, context))) return 'failed';
  const path = join('output', split, `${name}.jsonl`);
  const { prompt, scorer, run, agentVersion } = settings;
  const header = { ...run, prompt, scorer, ...(agentVersion !== null && { agent_version: agentVersion }) };
  const ids = new Set(tasks.map(({ taskId }) => taskId));
  const { terminal } = context;
  const logPath = given.value('log');
  const taskLog = logPath === undefined ? undefined : openTaskLog(logPath);
  const results = await untilInterrupted(terminal, (signal) =>
    whileLocked(path, async () => {
      const log = EvaluationLog.open(path, header, resultFormat);
      if (!given.has('keep-errors'))
        log.askAgain(({ task_id: id, agent_error: error }) => error !== null && ids.has(id));
      const shown = { terminal, isQuiet: given.has('quiet'), taskLog };
      await runEvaluation({ tasks, log, settings, concurrency, rondo: context.rondo(), signal, ...shown });
      return log.results.filter(({ task_id: id }) => ids.has(id));
    }),
  );
  if (results === undefined) return 'interrupted';
  const judgements = readJudgements(path);
  await storeResults(path, scoreResults(readResults(path), { judgements }), { rondo: context.rondo(), terminal });
  terminal.note(toSentence(toSummary(scoreResults(results, { judgements }))));
  terminal.note(`Results: ${path}`);
  const into = given.value('record');
  if (into === undefined) return 'ok';
  return (await import('../replay/pin-runs.ts')).pinResults({ results, into }, given, context);
}
