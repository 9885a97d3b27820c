import { parseArgs } from 'node:util';
import { type Command, type Given, type Option, UsageError } from './command';

/** Options of every command. */
export const commonOptions: readonly Option[] = [
  { name: 'json', help: 'JSON on standard output and nothing else: an object, or one per line' },
  { name: 'url', value: 'URL', help: 'the gateway (RONDO_URL, .data/url of a checkout, http://localhost:3000)' },
  { name: 'key', value: 'KEY', help: 'the API key (RONDO_API_KEY, .data/api-key of a checkout for its own gateway)' },
  { name: 'help', short: 'h', help: 'what the command does' },
];

/** The command with the longest name that the words begin with, and the words after its name. */
export function findCommand<Named extends { readonly name: string }>(
  commands: readonly Named[],
  words: readonly string[],
): [Named, string[]] | undefined {
  const findNamed = (count: number) => commands.find(({ name }) => name === words.slice(0, count).join(' '));
  const count = findNamed(2) ? 2 : 1;
  const command = findNamed(count);
  return command && [command, words.slice(count)];
}

export function parseArguments({ name, args = [], options = [] }: Command, words: readonly string[]): Given {
  const known = [...options, ...commonOptions];
  const { values, positionals } = parseWords(words, known);
  const listGiven = (option: string) => {
    const { also = [] } = known.find((one) => one.name === option) ?? {};
    return [option, ...also].flatMap((one) => values[one] ?? []);
  };
  const required = args.filter(({ optional }) => !optional);
  if (!listGiven('help').includes(true)) {
    const missing = required[positionals.length];
    if (missing) throw new UsageError(`${missing.name} is missing. See: rondo help ${name}`);
    const isOpen = args.some(({ repeatable }) => repeatable);
    if (!isOpen && positionals.length > args.length)
      throw new UsageError(`${positionals[args.length] ?? ''} is one argument too many. See: rondo help ${name}`);
  }
  return {
    args: positionals,
    values: (option) => listGiven(option).filter((value) => typeof value === 'string'),
    value: (option) => listGiven(option).findLast((value) => typeof value === 'string'),
    has: (option) => listGiven(option).length > 0,
  };
}

function parseWords(words: readonly string[], options: readonly Option[]) {
  const entries = options.flatMap(({ name, also = [], short, value, repeatable = false }) => {
    const type: 'string' | 'boolean' = value === undefined ? 'boolean' : 'string';
    const option = { type, multiple: repeatable };
    const others = also.map((other) => [other, option] as const);
    return [[name, { ...option, ...(short !== undefined && { short }) }] as const, ...others];
  });
  try {
    return parseArgs({ args: [...words], options: Object.fromEntries(entries), allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. To specify')[0] ?? '') : String(error));
  }
}

/** The number of an option, at least `least`; undefined where it is not given. */
export function readNumber(given: Given, name: string, least: number): number | undefined {
  const text = given.value(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < least)
    throw new UsageError(`--${name} is a number of at least ${least}, not ${text}.`);
  return value;
}

/** The same for a whole number. */
export function readCount(given: Given, name: string, least: number): number | undefined {
  const count = readNumber(given, name, least);
  if (count !== undefined && !Number.isInteger(count)) throw new UsageError(`--${name} is a whole number.`);
  return count;
}
