import { UsageError } from '../command';
import { modelKeys } from '../config';
import type { ModelAccess } from './ask-model';
import type { Settings } from './env-file';
import { type Setup, answerOr, keyOr, question, questions } from './questions';

const providers = ['none', 'openai', 'anthropic', 'compatible'] as const;

export const secondQuestions = {
  provider: question('second-provider', 'another provider beside the first: openai, anthropic, compatible or none', {
    value: 'NAME',
    ask: 'A second provider, whose models runs can name? none, openai, anthropic, or compatible',
    otherwise: 'none',
    accept: (answer) =>
      providers.some((one) => one === answer) ? answer : { wrong: `one of: ${providers.join(', ')}` },
  }),
  name: question('second-name', 'its name, with which runs name its models, for a compatible server', {
    value: 'NAME',
    ask: 'Its name, with which runs name its models, as in name/model',
    otherwise: 'second',
    accept: (answer) => (/^[a-z0-9_-]+$/.test(answer) ? answer : { wrong: 'lower-case letters, digits, "-" or "_"' }),
  }),
  baseUrl: question('second-base-url', 'of the second server, if it is a compatible one', {
    ...{ value: 'URL', ask: 'Its base URL, for example http://localhost:11434/v1' },
    ...{ otherwise: '', accept: questions.baseUrl.accept },
  }),
  key: question('second-key', 'its key; better in the environment', {
    ...{ value: 'KEY', ask: 'Its key (it is not shown; empty: none)', otherwise: '', secret: true },
    accept: (answer) => answer,
  }),
  model: question('second-model', 'one of its models, which is tried', {
    ...{ value: 'MODEL', ask: 'One of its models, which is tried', otherwise: '' },
    accept: (answer) => answer,
  }),
} as const;

const usualModel = { openai: 'gpt-5-mini', anthropic: 'claude-sonnet-5' } as const;

/** How the second provider is asked, and its settings. Undefined where none is wanted. */
export async function askForSecond(setting: Setup): Promise<{ access: ModelAccess; settings: Settings } | undefined> {
  const provider = await answerOr(undefined, secondQuestions.provider, setting);
  if (provider === 'none') return undefined;
  if (provider === 'openai' || provider === 'anthropic') return askForKnown(provider, setting);
  const name = await answerOr(undefined, secondQuestions.name, setting);
  const baseUrl = await answerOr(undefined, secondQuestions.baseUrl, setting);
  if (baseUrl === '') throw new UsageError('A compatible server needs --second-base-url.');
  const key = await answerOr(undefined, secondQuestions.key, setting);
  const model = await answerOr(undefined, secondQuestions.model, setting);
  if (model === '') throw new UsageError('Name one of its models: --second-model.');
  const variable = `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  const declared = {
    ...{ name, base_url: baseUrl, models: [{ id: model }] },
    ...(key !== '' && { api_key_variable: variable }),
  };
  const settings = { MODEL_PROVIDERS: withProvider(setting.before, declared), ...(key !== '' && { [variable]: key }) };
  return { access: { variables: { ...setting.before, ...settings }, model: `${name}/${model}` }, settings };
}

async function askForKnown(kind: 'openai' | 'anthropic', setting: Setup) {
  const variable = `${kind.toUpperCase()}_API_KEY`;
  const apiKey = await keyOr(modelKeys[kind] ?? setting.before[variable], secondQuestions.key, setting);
  if (apiKey === '') throw new UsageError(`A key is needed: ${variable} in the environment, or --second-key.`);
  const model = await answerOr(usualModel[kind], secondQuestions.model, setting);
  const settings = { [variable]: apiKey };
  return { access: { variables: { ...setting.before, ...settings }, model: `${kind}/${model}` }, settings };
}

/** The list with this provider; one of the same name is replaced. */
function withProvider({ MODEL_PROVIDERS = '[]' }: Settings, declared: { readonly name: string }): string {
  const before = JSON.parse(MODEL_PROVIDERS) as { name: string }[]; // services refuse to start with anything else
  return JSON.stringify([...before.filter(({ name }) => name !== declared.name), declared]);
}
