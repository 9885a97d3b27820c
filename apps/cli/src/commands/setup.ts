import { join } from 'node:path';
import { type Command, type Context, type Given, UsageError } from '../command';
import { checkout, modelKeys } from '../config';
import type { Settings } from '../setup/env-file';
import { writeSettings } from '../setup/env-file';
import { type ModelAccess, testModel } from '../setup/model-provider';
import { answerTo, questions } from '../setup/questions';

const usualModel = { openai: 'gpt-5', anthropic: 'claude-sonnet-4-5', compatible: '' } as const;

type Provider = keyof typeof usualModel;

interface Chosen {
  readonly access: ModelAccess;
  readonly settings: Settings;
}

/** The answers about one provider. */
async function chosenModel(provider: Provider, given: Given, { terminal }: Context): Promise<Chosen> {
  const kind = provider === 'anthropic' ? 'anthropic' : 'openai';
  const variable = kind === 'openai' ? 'OPENAI' : 'ANTHROPIC';
  const wantsUrl = provider === 'compatible' || given.value('base-url') !== undefined;
  const baseUrl = wantsUrl ? await answerTo(questions.baseUrl, given, terminal) : '';
  if (provider === 'compatible' && baseUrl === '') throw new UsageError('A compatible server needs --base-url.');
  const known = given.value('model-key') === undefined ? modelKeys[kind] : undefined;
  const key = known ?? (await answerTo(questions.modelKey, given, terminal));
  const apiKey = key === '' && provider === 'compatible' ? 'none' : key; // it must be set, to any value
  if (apiKey === '') throw new UsageError(`A key is needed: ${variable}_API_KEY in the environment, or --model-key.`);
  const model = (await answerTo({ ...questions.model, otherwise: usualModel[provider] }, given, terminal)).replace(
    /^(openai|anthropic)\//,
    '',
  );
  if (model === '') throw new UsageError('Name the model: --model.');
  return {
    access: { kind, apiKey, baseUrl: baseUrl === '' ? undefined : baseUrl, model },
    settings: {
      [`${variable}_API_KEY`]: apiKey,
      ...(baseUrl !== '' && { [`${variable}_BASE_URL`]: baseUrl }),
      DEFAULT_MODEL: `${kind}/${model}`,
    },
  };
}

/** The settings of the models, tested by a real call. Asked again while the call fails and a person can mend it. */
async function modelSettings(given: Given, context: Context): Promise<Settings | undefined> {
  const { terminal } = context;
  const provider = await answerTo(questions.provider, given, terminal);
  if (provider !== 'openai' && provider !== 'anthropic' && provider !== 'compatible') return {};
  for (;;) {
    const { access, settings } = await chosenModel(provider, given, context);
    if (given.has('no-test')) return settings;
    terminal.note(`Asking ${access.model} for a few tokens …`, 'dim');
    const tested = await testModel(access);
    if (tested.works) {
      terminal.note('It works.', 'green');
      return settings;
    }
    terminal.complain(`It does not work: ${tested.reason}`);
    const again =
      terminal.canAsk && given.value('model-key') === undefined && (await terminal.ask('Try again? [Y/n] '));
    if (again === false || again === undefined || again.toLowerCase().startsWith('n')) return undefined;
  }
}

export const setup: Command = {
  name: 'setup',
  summary: 'Ask for models and keys, test them by a real call, and write .env',
  options: [
    ...Object.values(questions).map(({ option }) => option),
    { name: 'yes', short: 'y', help: 'take the default of every question that is not given' },
    { name: 'no-test', help: 'without the call' },
    { name: 'output', short: 'o', value: 'FILE', help: 'instead of .env in the checkout' },
  ],
  details:
    'Every question is also an option. Without a terminal nothing is asked. A key from the environment is used without a ' +
    'question, and no key is ever printed. If the call fails, nothing is written. Other lines of the file stay. Nothing of this ' +
    'is needed for a first run: the demo models work without.',
  async run(given, context) {
    const { terminal } = context;
    const file = given.value('output') ?? join(checkout() ?? '.', '.env');
    const models = await modelSettings(given, context);
    if (!models) {
      terminal.complain('Nothing was written.');
      return 'failed';
    }
    const retention = await answerTo(questions.retention, given, terminal);
    const settings: Settings = {
      ...models,
      SANDBOX_EGRESS: await answerTo(questions.egress, given, terminal),
      ...(retention !== '' && { RETENTION_DAYS: retention }),
      PORT: await answerTo(questions.port, given, terminal),
    };
    writeSettings(file, settings);
    const names = Object.keys(settings);
    if (terminal.isJson) terminal.json({ file, written: names });
    else terminal.line(`${file}: ${names.join(', ')}\nNext: npm start, then rondo doctor`);
    return 'ok';
  },
};
