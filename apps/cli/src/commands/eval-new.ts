import type { Command } from '../command';

export const evalNew: Command = {
  name: 'eval new',
  summary: 'Write the files of an evaluation, as a beginning',
  args: [{ name: 'FOLDER' }],
  details: 'Its README.md says what each file is, and which commands to run.',
  run: async (given, context) => (await import('../evaluation/write-starter.ts')).writeStarter(given, context),
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
  run: async (given, context) => (await import('../evaluation/install-agent.ts')).installAgent(given, context),
};
