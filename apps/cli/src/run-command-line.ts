import { ConnectionError, Rondo, RondoError } from '@rondo/client';
import manifest from '../package.json';
import { type Command, UsageError } from './command';
import { commands, loadRouteCommands } from './command-table';
import { findGateway, isDumb, wantsColour } from './config';
import type { Ending } from './exit-codes';
import { toDocument, toHelp, helpOfAll, listCommands } from './help-text';
import { findCommand, parseArguments } from './parse-arguments';
import { resourceCommands } from './resources/resource-table';
import { type Streams, Terminal } from './terminal';

/** Runs one command line. Errors are said on standard error, and become an exit code. */
export async function runCommandLine(words: readonly string[], streams: Streams): Promise<Ending> {
  const json = beforeDashes(words).includes('--json');
  const terminal = new Terminal(streams, { json, colour: wantsColour, dumb: isDumb });
  try {
    return await dispatch(words, terminal);
  } catch (error) {
    return explain(error, terminal);
  }
}

/** What stands after two dashes is no option of this program. */
const beforeDashes = (words: readonly string[]): readonly string[] =>
  words.includes('--') ? words.slice(0, words.indexOf('--')) : words;

async function dispatch(words: readonly string[], terminal: Terminal): Promise<Ending> {
  const [first, ...rest] = words;
  if (first === undefined || asksForHelp(first)) return showOverview(terminal);
  if (first === '--version' || first === '-V') return show(manifest.version, terminal);
  if (first === 'help') return help(rest, terminal);
  const found = await loadCommand(words);
  if (!found) {
    if (hasCommandsFor(first) && asksForHelp(rest[0])) return help([first], terminal);
    if (hasCommandsFor(first)) throw new UsageError(`${first} needs another word. See: rondo help ${first}`);
    if (first.startsWith('-'))
      throw new UsageError(`${first} stands after a command: rondo COMMAND ${first}. See: rondo help`);
    throw new UsageError(`There is no command ${first}. See: rondo help`);
  }

  const [command, args] = found;
  const given = parseArguments(command, args);
  if (given.has('help')) return show(toHelp(command), terminal);
  const { url, key } = findGateway({ url: given.value('url') ?? given.value('gateway'), key: given.value('key') });
  return command.run(given, { terminal, url, key, rondo: () => new Rondo({ baseUrl: url, apiKey: key() }) });
}

/** The command that the words name, and the words after its name. */
async function loadCommand(words: readonly string[]): Promise<readonly [Command, readonly string[]] | undefined> {
  const found = findCommand([...commands, ...resourceCommands], words);
  if (!found) return undefined;
  const [named, args] = found;
  return ['load' in named ? await named.load() : named, args];
}

const asksForHelp = (word: string | undefined): boolean => word === '--help' || word === '-h';

const hasCommandsFor = (word: string): boolean =>
  [...commands, ...resourceCommands].some(({ name }) => name.startsWith(`${word} `));

const showOverview = (terminal: Terminal): Ending => show(helpOfAll(commands, resourceCommands), terminal);

async function help(words: readonly string[], terminal: Terminal): Promise<Ending> {
  const [first] = words;
  if (first === undefined) return showOverview(terminal);
  if (first === '--markdown') {
    terminal.write(toDocument(commands, await loadRouteCommands()));
    return 'ok';
  }
  const [command] = (await loadCommand(words)) ?? [];
  const others = words.length === 1 && hasCommandsFor(first) ? await readCommandsFor(first) : [];
  if (!command && others.length === 0) throw new UsageError(`There is no command ${words.join(' ')}. See: rondo help`);
  const texts = [...(command ? [toHelp(command)] : []), ...(others.length > 0 ? [listCommands(others)] : [])];
  return show(texts.join('\n\n'), terminal);
}

/** All commands of two words that begin with this one. */
const readCommandsFor = async (word: string): Promise<readonly Command[]> =>
  [...commands, ...(await loadRouteCommands())].filter(({ name }) => name.startsWith(`${word} `));

function show(text: string, terminal: Terminal): Ending {
  terminal.line(text);
  return 'ok';
}

/** What went wrong, and what to do. */
function explain(error: unknown, terminal: Terminal): Ending {
  if (error instanceof UsageError) {
    terminal.complain(error.message);
    return 'usage';
  }
  if (error instanceof RondoError) {
    const code = error.code === 'no_problem' ? '' : ` (${error.code})`;
    const hint = error.status === 401 ? ' Is it the key of this gateway? See: rondo doctor' : '';
    terminal.complain(`${error.message}${code}${hint}`);
    return 'failed';
  }
  if (error instanceof ConnectionError) {
    terminal.complain(`${error.message} Is Rondo running there? \`npm start\` starts it; rondo doctor says more.`);
    return 'unreachable';
  }
  terminal.complain(error instanceof Error ? error.message : String(error));
  return 'failed';
}
