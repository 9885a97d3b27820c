import type { Argument, Command, Option } from './command';
import { exitCodes } from './exit-codes';
import { commonOptions } from './parse-arguments';

const argumentText = ({ name, optional, repeatable }: Argument): string => {
  const text = `${name}${repeatable ? '…' : ''}`;
  return optional ? `[${text}]` : text;
};

export const usageOf = ({ name, args = [], options = [] }: Command): string =>
  ['rondo', name, ...args.map(argumentText), ...(options.length > 0 ? ['[options]'] : [])].join(' ');

const optionText = ({ name, short, value }: Option): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

const helpText = ({ help, also = [] }: Option): string => [help, ...also.map((name) => `also --${name}`)].join('; ');

const optionRows = (options: readonly Option[]) =>
  options.map((option) => [optionText(option), helpText(option)] as const);

export function helpOf(command: Command): string {
  const { summary, details, options = [] } = command;
  return [
    usageOf(command),
    `\n${summary}.`,
    ...(details === undefined ? [] : [details]),
    `\n${columns([...optionRows(options), ...optionRows(commonOptions)])}`,
  ].join('\n');
}

export const helpOfAll = (commands: readonly Command[]): string =>
  [
    'rondo: runs of LLM agents at the command line\n',
    columns(commands.map((command) => [usageOf(command).replace(/^rondo /, ''), command.summary])),
    `\nOptions of every command:\n${columns(optionRows(commonOptions))}`,
    `\nExit codes:\n${columns(Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning]))}`,
    '\nrondo help COMMAND says more about one.',
  ].join('\n');

const tableOf = (options: readonly Option[]): string =>
  ['| option | |', '|---|---|', ...optionRows(options).map(([left, right]) => `| \`${left}\` | ${right} |`)].join('\n');

/** docs/cli.md. */
export const documentOf = (commands: readonly Command[]): string =>
  [
    '# The command line\n',
    '<!-- `npm run docs` writes this file from the table of commands. -->\n',
    'In a checkout, `npx rondo` is the command, and it finds the gateway and the API key of `npm start` by itself. Elsewhere it takes\n`--url` and `--key`, or `RONDO_URL` and `RONDO_API_KEY`. A key that you give is never sent to a URL that a folder names: with\n`RONDO_API_KEY` in a checkout say `RONDO_URL`, too.\n',
    '| command | |\n|---|---|',
    ...commands.map((command) => `| [\`${command.name}\`](#${anchor(command)}) | ${command.summary} |`),
    `\n## Every command\n\n${tableOf(commonOptions)}\n`,
    'Results go to standard output, progress and questions to standard error. Colours and questions need a terminal; `NO_COLOR` is\nrespected. What models and tools print is shown without control characters on a terminal, and as it is in a pipe.\n',
    '| exit code | |\n|---|---|',
    ...Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`),
    ...commands.map(section),
  ].join('\n') + '\n';

const anchor = (command: Command): string => `rondo-${command.name.replace(' ', '-')}`;

function section(command: Command): string {
  const { name, summary, details, options = [] } = command;
  return [
    `\n## rondo ${name}\n\n    ${usageOf(command)}\n\n${summary}.`,
    ...(details === undefined ? [] : [details]),
    ...(options.length > 0 ? [`\n${tableOf(options)}`] : []),
  ].join('\n');
}
