import { join } from 'node:path';
import { type Command, type Context, type Given, UsageError } from '../command';
import { checkout, modelKeys, searchKey } from '../config';
import { type Settings, readSettings, writeSettings } from '../setup/env-file';
import { type ModelAccess, testModel } from '../setup/model-provider';
import { type Question, answerTo, questions } from '../setup/questions';

const usualModel = { openai: 'gpt-5.1', anthropic: 'claude-sonnet-5', compatible: '' } as const;

type Provider = keyof typeof usualModel;

interface Setup {
  readonly given: Given;
  /** The settings of the file. What it has is the default of each question. */
  readonly before: Settings;
  readonly context: Context;
}

interface Chosen {
  readonly access: ModelAccess;
  readonly settings: Settings;
}

/** What an earlier setup has chosen. */
function providerOf({ DEFAULT_MODEL = '', OPENAI_BASE_URL = '' }: Settings): Provider | 'demo' {
  if (DEFAULT_MODEL.startsWith('anthropic/')) return 'anthropic';
  if (!DEFAULT_MODEL.startsWith('openai/')) return 'demo';
  return OPENAI_BASE_URL === '' ? 'openai' : 'compatible';
}

/** The answer, or the default where the question is not answered. */
const answerOr = (otherwise: string | undefined, asked: Question, { given, context: { terminal } }: Setup) =>
  answerTo({ ...asked, otherwise: otherwise ?? asked.otherwise }, given, terminal);

/** A key that is known is not asked for. */
const keyOr = (known: string | undefined, asked: Question, { given, context: { terminal } }: Setup) =>
  known !== undefined && given.value(asked.option.name) === undefined ? known : answerTo(asked, given, terminal);

/** The answers about one provider. */
async function chosenModel(provider: Provider, setting: Setup): Promise<Chosen> {
  const { given, before } = setting;
  const kind = provider === 'anthropic' ? 'anthropic' : 'openai';
  const variable = kind === 'openai' ? 'OPENAI' : 'ANTHROPIC';
  const isAsBefore = provider === providerOf(before);
  const urlBefore = before[`${variable}_BASE_URL`] ?? '';
  const wantsUrl =
    provider === 'compatible' || given.value('base-url') !== undefined || (isAsBefore && urlBefore !== '');
  const baseUrl = wantsUrl ? await answerOr(isAsBefore ? urlBefore : undefined, questions.baseUrl, setting) : '';
  if (provider === 'compatible' && baseUrl === '') throw new UsageError('A compatible server needs --base-url.');
  const keyBefore = baseUrl === urlBefore ? before[`${variable}_API_KEY`] : undefined; // it is for that server alone
  const key = await keyOr(modelKeys[kind] ?? keyBefore, questions.modelKey, setting);
  const apiKey = key === '' && provider === 'compatible' ? 'none' : key; // it must be set, to any value
  if (apiKey === '') throw new UsageError(`A key is needed: ${variable}_API_KEY in the environment, or --model-key.`);
  const modelBefore = isAsBefore ? before['DEFAULT_MODEL'] : undefined;
  const usual = withoutProvider(modelBefore ?? usualModel[provider]);
  const model = withoutProvider(await answerOr(usual, questions.model, setting));
  if (model === '') throw new UsageError('Name the model: --model.');
  return {
    access: { kind, apiKey, baseUrl: baseUrl === '' ? undefined : baseUrl, model },
    settings: {
      [`${variable}_API_KEY`]: apiKey,
      ...(baseUrl !== urlBefore && { [`${variable}_BASE_URL`]: baseUrl }),
      DEFAULT_MODEL: `${kind}/${model}`,
    },
  };
}

const withoutProvider = (model: string): string => model.replace(/^(openai|anthropic)\//, '');

/** The settings of the models, tested by a real call. Asked again while the call fails and a person can mend it. */
async function modelSettings(setting: Setup): Promise<Settings | undefined> {
  const { given, before, context } = setting;
  const { terminal } = context;
  const provider = await answerOr(providerOf(before), questions.provider, setting);
  if (provider !== 'openai' && provider !== 'anthropic' && provider !== 'compatible') return {};
  for (;;) {
    const { access, settings } = await chosenModel(provider, setting);
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
    'Every question is also an option. Without a terminal nothing is asked. What the file has already is the default, so that a ' +
    'second setup changes only what you answer anew. A key of the environment or the file is used without a question, and no ' +
    'key is ever printed. If the call fails, nothing is written. Other lines of the file stay. Nothing of this is needed for a first run: the demo models work without.',
  async run(given, context) {
    const { terminal } = context;
    const file = given.value('output') ?? join(checkout() ?? '.', '.env');
    const before = readSettings(file);
    const setting = { given, before, context };
    const models = await modelSettings(setting);
    if (!models) {
      terminal.complain('Nothing was written.');
      return 'failed';
    }
    const search = await keyOr(searchKey ?? before['TAVILY_API_KEY'], questions.searchKey, setting);
    const retention = await answerOr(before['RETENTION_DAYS'], questions.retention, setting);
    const settings: Settings = {
      ...models,
      ...(search !== '' && { TAVILY_API_KEY: search }),
      SANDBOX_EGRESS: await answerOr(before['SANDBOX_EGRESS'], questions.egress, setting),
      ...(retention !== '' && { RETENTION_DAYS: retention }),
      PORT: await answerOr(before['PORT'], questions.port, setting),
    };
    writeSettings(file, settings);
    const names = Object.keys(settings);
    if (terminal.isJson) terminal.json({ file, written: names });
    else terminal.line(`${file}: ${names.join(', ')}\nNext: npm start, then rondo doctor`);
    return 'ok';
  },
};
