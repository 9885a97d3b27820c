import { join } from 'node:path';
import { type Command, UsageError } from '../command';
import { checkout, modelKeys, serviceKeys } from '../config';
import { type ModelAccess, testModel } from '../setup/ask-model';
import { checkServices } from '../setup/check-services';
import { type Settings, readSettings, writeSettings } from '../setup/env-file';
import { type Setup, answerOr, keyOr, questions } from '../setup/questions';
import { askForSecond, secondQuestions } from '../setup/second-provider';
import { askForServices, serviceQuestions } from '../setup/services';

const usualModel = { openai: 'gpt-5.1', anthropic: 'claude-sonnet-5', compatible: '' } as const;

type Provider = keyof typeof usualModel;

interface Chosen {
  readonly access: ModelAccess;
  readonly settings: Settings;
}

/** What an earlier setup has chosen. */
function toProvider({ DEFAULT_MODEL = '', OPENAI_BASE_URL = '' }: Settings): Provider | 'demo' {
  if (DEFAULT_MODEL.startsWith('anthropic/')) return 'anthropic';
  if (!DEFAULT_MODEL.startsWith('openai/')) return 'demo';
  return OPENAI_BASE_URL === '' ? 'openai' : 'compatible';
}

/** What an earlier setup has chosen does not stay the model of runs that name none. */
const backToDemo = (before: Settings): Settings =>
  toProvider(before) === 'demo' ? {} : { DEFAULT_MODEL: 'demo/coder' };

/** The answers about one provider. */
async function chooseModel(provider: Provider, setting: Setup): Promise<Chosen> {
  const { given, before } = setting;
  const kind = provider === 'anthropic' ? 'anthropic' : 'openai';
  const variable = kind === 'openai' ? 'OPENAI' : 'ANTHROPIC';
  const isAsBefore = provider === toProvider(before);
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
  const settings = {
    [`${variable}_API_KEY`]: apiKey,
    ...(baseUrl !== urlBefore && { [`${variable}_BASE_URL`]: baseUrl }),
    DEFAULT_MODEL: `${kind}/${model}`,
  };
  return { access: { variables: { ...before, ...settings }, model: settings.DEFAULT_MODEL }, settings };
}

const withoutProvider = (model: string): string => model.replace(/^(openai|anthropic)\//, '');

/** The settings of the models, tested by real calls. Undefined where one fails. */
async function modelSettings(setting: Setup): Promise<Settings | undefined> {
  const provider = await answerOr(toProvider(setting.before), questions.provider, setting);
  const isDemo = provider !== 'openai' && provider !== 'anthropic' && provider !== 'compatible';
  const first = isDemo ? backToDemo(setting.before) : await untilTested(() => chooseModel(provider, setting), setting);
  if (!first) return undefined;
  const before = { ...setting.before, ...first };
  const second = await untilTested(() => askForSecond({ ...setting, before }), setting);
  return second && { ...first, ...second };
}

/** Asked again while the call fails and a person can mend it. */
async function untilTested(choose: () => Promise<Chosen | undefined>, { given, context }: Setup) {
  const { terminal } = context;
  for (;;) {
    const chosen = await choose();
    if (!chosen) return {};
    const { access, settings } = chosen;
    if (given.has('no-test')) return settings;
    terminal.note(`Asking ${access.model} for a few tokens …`, 'dim');
    const tested = await testModel(access);
    if (!tested) {
      terminal.note('It was not tested: this needs the built sources of Rondo.', 'yellow');
      return settings;
    }
    if (tested.reason === undefined) {
      terminal.note('It works.', 'green');
      return settings;
    }
    terminal.complain(`It does not work: ${tested.reason}`);
    const isGiven = given.value('model-key') !== undefined || given.value('second-key') !== undefined;
    const again = terminal.canAsk && !isGiven && (await terminal.ask('Try again? [Y/n] '));
    if (again === false || again === undefined || again.toLowerCase().startsWith('n')) return undefined;
  }
}

/** True where everything works, or a person wants to keep it all the same. */
async function servicesWork(settings: Settings, { context: { terminal } }: Setup): Promise<boolean> {
  const checked = await checkServices(settings);
  if (!checked) {
    terminal.note('Services and servers were not tested: this needs the built sources of Rondo.', 'yellow');
    return true;
  }
  for (const { what, works, reason } of checked) {
    if (works) terminal.note(`${what}: it works.`, 'green');
    else terminal.complain(`${what}: it does not work: ${reason ?? 'no reason was given'}`);
  }
  if (checked.every(({ works }) => works)) return true;
  const kept = terminal.canAsk ? await terminal.ask('Write the settings all the same? [y/N] ') : undefined;
  return kept?.toLowerCase().startsWith('y') ?? false;
}

export const setup: Command = {
  name: 'setup',
  summary: 'Ask for models, services and servers, test each, and write .env',
  options: [
    ...[questions, secondQuestions, serviceQuestions]
      .flatMap((asked) => Object.values(asked))
      .map(({ option }) => option),
    { name: 'yes', short: 'y', help: 'take the default of every question that is not given' },
    { name: 'no-test', help: 'without the requests' },
    { name: 'output', short: 'o', value: 'FILE', help: 'instead of .env in the checkout' },
  ],
  details:
    'Every question is also an option. Without a terminal nothing is asked. What the file has already is the default, so that a ' +
    'second setup changes only what you answer anew. A key of the environment or the file is used without a question, and no ' +
    'key is ever printed. Services of tools, sandboxes at Docker or Daytona, and your own servers are tried by the requests that Rondo itself sends; ' +
    'a call of a data provider may have a price. If one fails, nothing is written, unless you say so. Other lines of the file stay. Nothing of this is needed for a first run: the demo models work without.',
  async run(given, context) {
    const { terminal } = context;
    const file = given.value('output') ?? join(checkout() ?? '.', '.env');
    const before = readSettings(file);
    const setting = { given, before, environment: serviceKeys, context };
    const models = await modelSettings(setting);
    if (!models) {
      terminal.complain('Nothing was written.');
      return 'failed';
    }
    const services = await askForServices(setting);
    const retention = await answerOr(before['RETENTION_DAYS'], questions.retention, setting);
    const settings: Settings = {
      ...models,
      ...services,
      SANDBOX_EGRESS: await answerOr(before['SANDBOX_EGRESS'], questions.egress, setting),
      ...(retention !== '' && { RETENTION_DAYS: retention }),
      PORT: await answerOr(before['PORT'], questions.port, setting),
    };
    if (!given.has('no-test') && !(await servicesWork({ ...before, ...services }, setting))) {
      terminal.complain('Nothing was written.');
      return 'failed';
    }
    writeSettings(file, settings);
    const names = Object.keys(settings);
    if (terminal.isJson) terminal.json({ file, written: names });
    else terminal.line(`${file}: ${names.join(', ')}\nNext: npm start, then rondo doctor`);
    return 'ok';
  },
};
