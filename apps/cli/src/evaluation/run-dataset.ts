import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '@rondo/client';
import { type Context, type Given, UsageError } from '../command';
import { agentNamed } from '../commands/agents';
import type { Ending } from '../exit-codes';
import { hasItsTools } from './check-tools';
import { EvaluationLog } from './evaluation-log';
import { readCount, readNumber } from '../parse-arguments';
import { findScorer } from './given-options';
import { readJudgements, readResults } from './read-results';
import { readDataset, selectTasks } from './read-dataset';
import { resultFormat } from './result';
import { runEvaluation } from './run-evaluation';
import { type TaskSettings, defaultPrompt } from './run-task';
import { whileLocked } from './runner-lock';
import { scored } from './scored-result';
import { storeResults } from './store-results';
import { toSummary } from './summary';
import { toSentence } from './summary-text';
import { openTaskLog } from './task-log';
import { untilInterrupted } from './until-interrupted';

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
  await storeResults(path, scored(readResults(path), { judgements }), { rondo: context.rondo(), terminal });
  terminal.note(toSentence(toSummary(scored(results, { judgements }))));
  terminal.note(`Results: ${path}`);
  const into = given.value('record');
  if (into === undefined) return 'ok';
  return (await import('../replay/pin-runs.ts')).pinResults({ results, into }, given, context);
}
