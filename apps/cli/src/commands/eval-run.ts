import type { Command } from '../command';

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
  run: async (given, context) => (await import('../evaluation/run-dataset.ts')).runDataset(given, context),
};
