import type { Command, Option } from '../command';

export const evalNew: Command = {
  name: 'eval new',
  summary: 'Write the files of an evaluation, as a beginning',
  args: [{ name: 'FOLDER' }],
  details: 'Its README.md says what each file is, and which commands to run.',
  run: async (given, context) => (await import('./starter-files.ts')).writeStarter(given, context),
};

export const evalAgent: Command = {
  name: 'eval agent',
  summary: 'Store the agent gaia, which has the tools for questions of GAIA',
  args: [{ name: 'AGENT' }],
  options: [
    { name: 'model', short: 'm', value: 'MODEL', help: 'for example openai/gpt-5; the deployment decides otherwise' },
  ],
  details:
    'It says which of its tools the deployment lacks, and the setting that is missing. `rondo agents show gaia` shows it, ' +
    'and `rondo eval run DATASET --agent gaia` uses it.',
  run: async (given, context) => (await import('./install-agent.ts')).installAgent(given, context),
};

export const evalRun: Command = {
  name: 'eval run',
  summary: 'Run the tasks of a dataset; started again, it goes on where it was',
  args: [{ name: 'DATASET' }],
  options: [
    {
      name: 'name',
      also: ['run-name'],
      value: 'NAME',
      help: 'of the evaluation: results are in output/SPLIT/NAME.jsonl (evaluation)',
    },
    {
      name: 'split',
      also: ['set-to-run'],
      value: 'SPLIT',
      help: 'validation or test of a folder as GAIA has it (validation)',
    },
    { name: 'start', also: ['start-index'], value: 'INDEX', help: 'the first task, from 0' },
    { name: 'end', also: ['end-index'], value: 'INDEX', help: 'the task after the last' },
    { name: 'task', also: ['task-uuid'], value: 'ID', repeatable: true, help: 'only this task' },
    { name: 'concurrency', value: 'COUNT', help: 'tasks at a time (1)' },
    { name: 'model', short: 'm', value: 'MODEL', help: 'for example openai/gpt-5' },
    { name: 'agent', value: 'AGENT', help: 'a stored agent, by its id or name' },
    { name: 'profile', value: 'PROFILE', help: 'suna, ii or symphony' },
    { name: 'prompt', value: 'FILE', help: 'the text around the question, with {question} where it is' },
    { name: 'budget', value: 'USD', help: 'the most that a task may cost' },
    { name: 'max-iterations', value: 'COUNT', help: 'the most iterations of a task (those of the agent, or 200)' },
    { name: 'scorer', value: 'SCORER', help: 'gaia, exact, number or judge, for tasks that name none (gaia)' },
    { name: 'skip-missing-tools', help: 'run without the tools of the agent that the deployment lacks' },
    { name: 'record', value: 'DIR', help: 'make a recording of each run, as `rondo eval pin` does' },
    {
      name: 'log',
      also: ['logs-path'],
      value: 'FILE',
      help: 'add a line with the time to FILE for each task that is over',
    },
    { name: 'quiet', also: ['minimize-stdout-logs'], help: 'say only what went wrong, and the sum' },
    { name: 'keep-errors', help: 'do not ask again what ended with an error' },
  ],
  details: 'See docs/evaluations.md for datasets, result files and scorers.',
  run: async (given, context) => (await import('./run-dataset.ts')).runDataset(given, context),
};

const scorerOption: Option = {
  name: 'scorer',
  value: 'SCORER',
  help: 'gaia, exact, number or judge, for all tasks, in place of what each says',
};

export const evalScore: Command = {
  name: 'eval score',
  summary: 'Score the results of an evaluation, with a confidence interval',
  args: [{ name: 'RESULTS' }],
  options: [
    scorerOption,
    { name: 'judge-model', value: 'MODEL', help: 'asks this model about the answers that a judge compares' },
    { name: 'judge-prompt', value: 'FILE', help: 'what the judge goes by' },
    { name: 'concurrency', value: 'COUNT', help: 'answers that are judged at a time (1)' },
    { name: 'retry-errors', help: 'ask the judge again where its reply could not be read' },
  ],
  details: 'What a judge has said stays in a file beside the results; `eval compare` and `eval report` read it.',
  run: async (given, context) => (await import('./show-results.ts')).scoreFile(given, context),
};

export const evalCompare: Command = {
  name: 'eval compare',
  summary: 'Compare two evaluations by the tasks that both have',
  args: [{ name: 'BEFORE' }, { name: 'AFTER' }],
  options: [scorerOption],
  run: async (given, context) => (await import('./show-results.ts')).compareFiles(given, context),
};

export const evalReport: Command = {
  name: 'eval report',
  summary: 'Write one page with plots about evaluations',
  args: [{ name: 'RESULTS', repeatable: true }],
  options: [scorerOption, { name: 'output', short: 'o', value: 'FILE', help: 'the page; standard output otherwise' }],
  run: async (given, context) => (await import('./show-results.ts')).writeReport(given, context),
};

export const evalPin: Command = {
  name: 'eval pin',
  summary: 'Record runs, so that they can be replayed without a model',
  args: [{ name: 'RUN|RESULTS', repeatable: true }],
  options: [{ name: 'into', value: 'DIR', help: 'the folder of the recordings (recordings)' }],
  details:
    'A run becomes DIR/RUN.jsonl; RESULTS is a result file of `rondo eval run`, and each of its tasks becomes DIR/TASK.jsonl. See ' +
    'docs/evaluations.md.',
  run: async (given, context) => (await import('../replay/pin-runs.ts')).pinRuns(given, context),
};

export const evalReplay: Command = {
  name: 'eval replay',
  summary: 'Run the agent loop over recordings, and say where it differs',
  args: [{ name: 'FILE|DIR', repeatable: true }],
  options: [
    { name: 'agent', value: 'FILE', help: 'with the agent of this YAML file, as `rondo agents apply` reads it' },
    { name: 'profile', value: 'PROFILE', help: 'with this profile: suna, ii or symphony' },
    { name: 'model', short: 'm', value: 'MODEL', help: 'with this model' },
    { name: 'system-prompt', value: 'FILE', help: 'with this system prompt' },
    { name: 'prompt', value: 'FILE', help: 'with this text around the question, with {question} where it is' },
  ],
  details: 'Uses no network. Exits with 1 if a recording is not replayed the same. See docs/evaluations.md.',
  run: async (given, context) => (await import('../replay/replay-suite.ts')).replaySuite(given, context),
};
