import { type Context, type Given, type Option, UsageError } from '../command';
import type { Terminal } from '../terminal';
import type { Settings } from './env-file';

/** A question of the setup, which is also an option. */
export interface Question {
  readonly option: Option;
  readonly ask: string;
  /** Taken when the answer is empty, with `--yes` and without a terminal. */
  readonly otherwise: string;
  /** The value as it is used, or what is wrong with it. */
  readonly accept: (answer: string) => string | { readonly wrong: string };
  readonly secret?: boolean;
}

export const acceptOne =
  (...allowed: string[]) =>
  (answer: string) =>
    allowed.includes(answer) ? answer : { wrong: `one of: ${allowed.join(', ')}` };

const wholeNumber = (from: number, to: number) => (answer: string) =>
  answer === '' || (/^\d+$/.test(answer) && Number(answer) >= from && Number(answer) <= to)
    ? answer
    : { wrong: `a number from ${from} to ${to}` };

/** Accepts the empty answer, too. */
export const acceptUrl =
  (...schemes: string[]) =>
  (answer: string) =>
    answer === '' || schemes.some((one) => answer.startsWith(`${one}://`))
      ? answer
      : { wrong: `a URL that begins with ${schemes.map((one) => `${one}://`).join(' or ')}` };

export const anything = (answer: string) => answer;

/** A question that is also the option `name`. */
export const question = (name: string, help: string, rest: Omit<Question, 'option'> & { value: string }): Question => ({
  option: { name, value: rest.value, help },
  ...rest,
});

export const questions = {
  provider: question('provider', 'demo, openai, anthropic, or compatible: a server with the API of OpenAI', {
    value: 'NAME',
    ask: 'Which models? demo (scripted, no key), openai, anthropic, or compatible (a server with the API of OpenAI)',
    otherwise: 'demo',
    accept: acceptOne('demo', 'openai', 'anthropic', 'compatible'),
  }),
  baseUrl: question('base-url', 'of a compatible server, for example http://localhost:11434/v1', {
    value: 'URL',
    ask: 'Its base URL, for example http://localhost:11434/v1',
    otherwise: '',
    accept: acceptUrl('http', 'https'),
  }),
  modelKey: question('model-key', 'the key; better in the environment, as OPENAI_API_KEY or ANTHROPIC_API_KEY', {
    value: 'KEY',
    ask: 'The key (it is not shown)',
    otherwise: '',
    accept: anything,
    secret: true,
  }),
  model: question('model', 'the model that runs use unless they name one, without the name of the provider', {
    value: 'MODEL',
    ask: 'The model that runs use unless they name one',
    otherwise: '',
    accept: anything,
  }),
  searchKey: question('search-key', 'the key of the engine; better in the environment, as TAVILY_API_KEY', {
    value: 'KEY',
    ask: 'The key of the engine (it is not shown)',
    otherwise: '',
    accept: anything,
    secret: true,
  }),
  egress: question('egress', 'what tools may reach: public or none', {
    value: 'WHAT',
    ask: 'What may tools reach? public (all public addresses) or none',
    otherwise: 'public',
    accept: acceptOne('public', 'none'),
  }),
  retention: question('retention-days', 'delete the facts of runs so many days after their end', {
    value: 'DAYS',
    ask: 'Delete the facts of runs so many days after their end (empty: never)',
    otherwise: '',
    accept: wholeNumber(1, 36_500),
  }),
  port: question('port', 'where the gateway listens', {
    value: 'PORT',
    ask: 'The port of the gateway',
    otherwise: '3000',
    accept: wholeNumber(1, 65_535),
  }),
} as const;

const withoutPassword = (answer: string): string => answer.replace(/:\/\/([^:/@]*):[^@]*@/, '://$1:***@');

/** From the option, or from the person; the default where no person is to be asked. */
export async function answerTo(asked: Question, given: Given, terminal: Terminal): Promise<string> {
  const { option, ask, otherwise, accept, secret } = asked;
  const value = given.value(option.name);
  if (value !== undefined) {
    const accepted = accept(value);
    if (typeof accepted === 'string') return accepted;
    throw new UsageError(`--${option.name} must be ${accepted.wrong}.`);
  }
  if (given.has('yes') || !terminal.canAsk) return otherwise;
  for (;;) {
    const text = `${ask}${otherwise === '' ? '' : ` [${withoutPassword(otherwise)}]`}: `;
    const answer = secret ? await terminal.askSecret(text) : await terminal.ask(text);
    if (answer === undefined) throw new UsageError('Nothing was written.');
    const accepted = accept(answer.trim() === '' ? otherwise : answer.trim());
    if (typeof accepted === 'string') return accepted;
    terminal.note(`It must be ${accepted.wrong}.`, 'yellow');
  }
}

/** What the answers of one setup depend on. */
export interface Setup {
  readonly given: Given;
  /** The settings of the file. What it has is the default of each question. */
  readonly before: Settings;
  /** Keys of services in the environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly context: Context;
}

/** The answer, or the default where the question is not answered. */
export const answerOr = (otherwise: string | undefined, asked: Question, { given, context: { terminal } }: Setup) =>
  answerTo({ ...asked, otherwise: otherwise ?? asked.otherwise }, given, terminal);

/** A key that is known is not asked for. */
export const keyOr = (known: string | undefined, asked: Question, { given, context: { terminal } }: Setup) =>
  known !== undefined && given.value(asked.option.name) === undefined
    ? Promise.resolve(known)
    : answerTo(asked, given, terminal);
