import type { Command, Option } from '../command';

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
  run: async (given, context) => (await import('../evaluation/show-results.ts')).scoreFile(given, context),
};

export const evalCompare: Command = {
  name: 'eval compare',
  summary: 'Compare two evaluations by the tasks that both have',
  args: [{ name: 'BEFORE' }, { name: 'AFTER' }],
  options: [scorerOption],
  run: async (given, context) => (await import('../evaluation/show-results.ts')).compareFiles(given, context),
};

export const evalReport: Command = {
  name: 'eval report',
  summary: 'Write one page with plots about evaluations',
  args: [{ name: 'RESULTS', repeatable: true }],
  options: [scorerOption, { name: 'output', short: 'o', value: 'FILE', help: 'the page; standard output otherwise' }],
  run: async (given, context) => (await import('../evaluation/show-results.ts')).writeReport(given, context),
};
