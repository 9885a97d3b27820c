import { ConnectionError, Rondo, RondoError } from '@rondo/client';
import { UsageError } from './command';
import { commands } from './command-table';
import { findGateway, isDumb, wantsColour } from './config';
import type { Ending } from './exit-codes';
import { documentOf, helpOf, helpOfAll } from './help-text';
import { findCommand, parseArguments } from './parse-arguments';
import { type Streams, Terminal } from './terminal';

/** Runs one command line. Errors are said on standard error, and become an exit code. */
export async function runCommandLine(words: readonly string[], streams: Streams): Promise<Ending> {
  const terminal = new Terminal(streams, { json: words.includes('--json'), colour: wantsColour, dumb: isDumb });
  try {
    return await dispatch(words, terminal);
  } catch (error) {
    return explain(error, terminal);
  }
}

async function dispatch(words: readonly string[], terminal: Terminal): Promise<Ending> {
  const [first, ...rest] = words;
  if (first === undefined || first === '--help' || first === '-h') return show(helpOfAll(commands), terminal);
  if (first === 'help') return help(rest, terminal);
  const found = findCommand(commands, words);
  if (!found) throw new UsageError(`There is no command ${first}. See: rondo help`);

  const [command, args] = found;
  const given = parseArguments(command, args);
  if (given.has('help')) return show(helpOf(command), terminal);
  const { url, key } = findGateway({ url: given.value('url') ?? given.value('gateway'), key: given.value('key') });
  return command.run(given, { terminal, url, key, rondo: () => new Rondo({ baseUrl: url, apiKey: key() }) });
}

function help(words: readonly string[], terminal: Terminal): Ending {
  if (words[0] === '--markdown') terminal.write(documentOf(commands));
  else if (words.length === 0) terminal.line(helpOfAll(commands));
  else {
    const [command] = findCommand(commands, words) ?? [];
    if (!command) throw new UsageError(`There is no command ${words.join(' ')}. See: rondo help`);
    terminal.line(helpOf(command));
  }
  return 'ok';
}

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
