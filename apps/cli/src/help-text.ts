import type { Argument, Command, Option } from './command';
import { exitCodes } from './exit-codes';
import { commonOptions } from './parse-arguments';

const argumentText = ({ name, optional, repeatable }: Argument): string => {
  const text = `${name}${repeatable ? '…' : ''}`;
  return optional ? `[${text}]` : text;
};

export const toUsage = ({ name, args = [], options = [] }: Command): string =>
  ['rondo', name, ...args.map(argumentText), ...(options.length > 0 ? ['[options]'] : [])].join(' ');

const optionText = ({ name, short, value }: Option): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;

const screenWidth = 120;

/** Two columns, the right one in as many lines as it needs. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows
    .flatMap(([left, right]) =>
      wrapText(right, Math.max(screenWidth - width - 4, 40)).map(
        (line, index) => `  ${(index === 0 ? left : '').padEnd(width)}  ${line}`,
      ),
    )
    .join('\n');
}

/** Lines of at most so many characters, unless a word is longer. */
function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

const helpText = ({ help, also = [] }: Option): string => [help, ...also.map((name) => `also --${name}`)].join('; ');

const optionRows = (options: readonly Option[]) =>
  options.map((option) => [optionText(option), helpText(option)] as const);

export function toHelp(command: Command): string {
  const { summary, details, options = [] } = command;
  return [
    toUsage(command),
    `\n${summary}.`,
    ...(details === undefined ? [] : [details]),
    `\n${columns([...optionRows(options), ...optionRows(commonOptions)])}`,
  ].join('\n');
}

/** Every command, and by name alone those that are made from routes. */
export const helpOfAll = (commands: readonly Command[], routes: readonly Named[] = []): string =>
  [
    'rondo: runs of LLM agents at the command line\n',
    columns(commands.map((command) => [toUsage(command).replace(/^rondo /, ''), command.summary])),
    ...(routes.length > 0
      ? [
          '\nMore of the API, a command for each route (rondo help threads lists those of threads):',
          columns(readVerbs(routes)),
        ]
      : []),
    `\nOptions of every command:\n${columns(optionRows(commonOptions))}`,
    `\nExit codes:\n${columns(Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning]))}`,
    '\nrondo help COMMAND says more about one.',
  ].join('\n');

const toTable = (options: readonly Option[]): string =>
  [
    '| option | |',
    '|---|---|',
    ...optionRows(options).map(([left, right]) => `| \`${toCell(left)}\` | ${toCell(right)} |`),
  ].join('\n');

interface Named {
  readonly name: string;
}

/** The second words of commands by their first: `threads` and `ls, get, create`. */
function readVerbs(commands: readonly Named[]): readonly (readonly [resource: string, verbs: string])[] {
  const verbs = new Map<string, readonly string[]>();
  for (const { name } of commands) {
    const [resource = '', ...rest] = name.split(' ');
    verbs.set(resource, [...(verbs.get(resource) ?? []), ...rest]);
  }
  return [...verbs].map(([resource, names]) => [resource, names.join(', ') || '(no other word)']);
}

/** Those of several commands, for example of all that begin with `threads`. */
export const listCommands = (commands: readonly Command[]): string =>
  columns(commands.map((command) => [toUsage(command), command.summary]));

/** docs/cli.md. `routes` are the commands that are made from routes of the API. */
export const toDocument = (commands: readonly Command[], routes: readonly Command[]): string =>
  [
    '# The command line\n',
    '<!-- `npm run docs` writes this file from the table of commands. -->\n',
    'In a checkout, `npx rondo` is the command, and it finds the gateway and the API key of `npm start` by itself. Elsewhere it takes\n`--url` and `--key`, or `RONDO_URL` and `RONDO_API_KEY`. A key that you give is never sent to a URL that a folder names: with\n`RONDO_API_KEY` in a checkout say `RONDO_URL`, too.\n',
    '| command | |\n|---|---|',
    ...commands.map((command) => `| [\`${command.name}\`](#${anchor(command)}) | ${command.summary} |`),
    `\n## Every command\n\n${toTable(commonOptions)}\n`,
    'Results go to standard output, progress and questions to standard error. Colours and questions need a terminal; `NO_COLOR` is\nrespected. What models and tools print is shown without control characters on a terminal, and as it is in a pipe.\n',
    '| exit code | |\n|---|---|',
    ...Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`),
    ...commands.map((command) => section(command, '##')),
    '\n## More of the API\n',
    'These are made from the routes of the API: a command sends one request and prints the answer, lists as tables. What a field means\nis in `/docs` of the gateway, too.\n',
    '| command | |\n|---|---|',
    ...routes.map((command) => `| [\`${command.name}\`](#${anchor(command)}) | ${toCell(command.summary)} |`),
    ...routes.map((command) => section(command, '###')),
  ].join('\n') + '\n';

/** A bar would end the cell of a table. */
const toCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

const anchor = (command: Command): string => `rondo-${command.name.replaceAll(' ', '-')}`;

function section(command: Command, heading: '##' | '###'): string {
  const { name, summary, details, options = [] } = command;
  return [
    `\n${heading} rondo ${name}\n\n    ${toUsage(command)}\n\n${summary}.`,
    ...(details === undefined ? [] : [details]),
    ...(options.length > 0 ? [`\n${toTable(options)}`] : []),
  ].join('\n');
}
