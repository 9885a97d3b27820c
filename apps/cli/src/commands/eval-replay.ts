import type { Command } from '../command';

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
