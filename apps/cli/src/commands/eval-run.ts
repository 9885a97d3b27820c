import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, type Context, type Given, UsageError } from '../command';
import { EvaluationLog } from '../evaluation/evaluation-log';
import { readDataset, selectTasks } from '../evaluation/read-dataset';
import { runEvaluation } from '../evaluation/run-evaluation';
import { type TaskSettings, defaultPrompt } from '../evaluation/run-task';
import { whileLocked } from '../evaluation/runner-lock';
import { summaryOf } from '../evaluation/summary';
import { sentenceOf } from '../evaluation/summary-text';
import { isScorer } from '../evaluation/task';
import { agentNamed } from './agents';

/** A number of the command line, at least `least`. */
function numberOf(given: Given, name: string, least: number): number | undefined {
  const text = given.value(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < least)
    throw new UsageError(`--${name} is a number of at least ${least}, not ${text}.`);
  return value;
}

function countOf(given: Given, name: string, least: number): number | undefined {
  const count = numberOf(given, name, least);
  if (count !== undefined && !Number.isInteger(count)) throw new UsageError(`--${name} is a whole number.`);
  return count;
}

function promptOf(given: Given): string {
  const file = given.value('prompt');
  if (file === undefined) return defaultPrompt;
  const prompt = readFileSync(file, 'utf8');
  if (!prompt.includes('{question}')) throw new UsageError(`${file} does not say where the {question} is.`);
  return prompt;
}

async function settingsOf(given: Given, context: Context): Promise<TaskSettings> {
  const scorer = given.value('scorer') ?? 'gaia';
  if (!isScorer(scorer) || scorer === 'regex')
    throw new UsageError(`--scorer is gaia, exact or number, not ${scorer}. Tasks with patterns say so themselves.`);
  const [model, profile, name] = ['model', 'profile', 'agent'].map((option) => given.value(option));
  const agent = name === undefined ? undefined : await agentNamed(name, context);
  const budget = numberOf(given, 'budget', 0);
  const iterations = countOf(given, 'max-iterations', 1) ?? 200;
  return {
    prompt: promptOf(given),
    scorer,
    agentName: agent?.definition.name ?? null,
    run: {
      interactive: false,
      limits: { max_iterations: iterations },
      ...(model !== undefined && { model }),
      ...(profile !== undefined && { profile: profile as 'ii' }), // the gateway refuses one that it does not have
      ...(agent && { agent_id: agent.id }),
      ...(budget !== undefined && { budget: { usd: budget, on_exceeded: 'end' } }),
    },
  };
}

export const evalRun: Command = {
  name: 'eval run',
  summary: 'Run the tasks of a dataset; started again, it goes on where it was',
  args: [{ name: 'DATASET' }],
  options: [
    { name: 'name', value: 'NAME', help: 'of the evaluation: results are in output/SPLIT/NAME.jsonl (evaluation)' },
    { name: 'split', value: 'SPLIT', help: 'validation or test of a folder as GAIA has it (validation)' },
    { name: 'start', value: 'INDEX', help: 'the first task, from 0' },
    { name: 'end', value: 'INDEX', help: 'the task after the last' },
    { name: 'task', value: 'ID', repeatable: true, help: 'only this task' },
    { name: 'concurrency', value: 'COUNT', help: 'tasks at a time (1)' },
    { name: 'model', short: 'm', value: 'MODEL', help: 'for example openai/gpt-5' },
    { name: 'agent', value: 'AGENT', help: 'a stored agent, by its id or name' },
    { name: 'profile', value: 'PROFILE', help: 'suna, ii or symphony' },
    { name: 'prompt', value: 'FILE', help: 'the text around the question, with {question} where it is' },
    { name: 'budget', value: 'USD', help: 'the most that a task may cost' },
    { name: 'max-iterations', value: 'COUNT', help: 'the most iterations of a task (200)' },
    { name: 'scorer', value: 'SCORER', help: 'gaia, exact or number, for tasks that name none (gaia)' },
    { name: 'retry-errors', help: 'ask again what ended with an error' },
  ],
  details: 'See docs/evaluations.md for datasets, result files and scorers.',
  async run(given, context) {
    const split = given.value('split') ?? 'validation';
    if (!/^[\w.-]+$/.test(split)) throw new UsageError('--split is a name.');
    const name = given.value('name') ?? 'evaluation';
    if (!/^[\w.-]+$/.test(name)) throw new UsageError('--name has letters, digits, dots, dashes and underscores.');
    const tasks = selectTasks(readDataset(given.args[0] ?? '', split), {
      start: countOf(given, 'start', -Infinity),
      end: countOf(given, 'end', -Infinity),
      taskIds: given.values('task'),
    });
    const concurrency = countOf(given, 'concurrency', 1) ?? 1;
    const settings = await settingsOf(given, context);
    const path = join('output', split, `${name}.jsonl`);
    const { prompt, scorer, run } = settings;
    const results = await whileLocked(path, async () => {
      const log = EvaluationLog.open(path, { ...run, prompt, scorer });
      const ids = new Set(tasks.map(({ taskId }) => taskId));
      if (given.has('retry-errors')) log.retryErrors(ids);
      await runEvaluation({ tasks, log, settings, concurrency, rondo: context.rondo(), terminal: context.terminal });
      return log.results.filter(({ task_id: id }) => ids.has(id));
    });
    context.terminal.note(sentenceOf(summaryOf(results)));
    context.terminal.note(`Results: ${path}`);
    return 'ok';
  },
};
