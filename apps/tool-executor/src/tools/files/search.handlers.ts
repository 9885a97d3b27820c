import { posix } from 'node:path';
import { type ToolResult, toFailedResult } from '@rondo/contract';
import { type CommandOutcome, SandboxError } from '../../sandboxes';
import { resultCharacters } from '../clip-text';
import { shellQuoted, privateSession } from '../shell/tool-commands';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { aboutFile } from './about-file';
import { unlistedFolders } from './file-tree';

type SearchInput = ToolInput<'search_files'>;

const searchTimeoutMs = 20_000;
const lineBytes = 500;
/** How the search says that it ended: as grep does, and that the pattern is none. */
const ended = { found: 0, nothing: 1, incomplete: 2, invalidPattern: 3, enough: 141 } as const;

/**
 * grep searches, inside the sandbox: a link leads nowhere else, and an expression that takes for ever takes the time of
 * the sandbox, up to a limit.
 */
export const searchFiles: ToolHandler<SearchInput> = {
  handle: (input, { sandbox, idempotencyKey, runId, timeoutMs, signal }) =>
    aboutFile(input.path, async (path) => {
      if ((await sandbox.files.stat(input.path)) === undefined) return toFailedResult(`${path} does not exist.`);
      const outcome = await sandbox.exec(
        {
          ...{ id: idempotencyKey, run: runId, command: searchCommand(input, path), cwd: '.', session: privateSession },
          timeoutMs: Math.min(searchTimeoutMs, timeoutMs),
          keepBytes: 4 * (input.max_results + 1) * lineBytes,
        },
        { signal },
      );
      if (outcome.ending === 'killed') signal.throwIfAborted();
      return resultOfSearch(outcome, input);
    }),
};

/** The expression is tried on nothing first, to tell a mistake in it from a file that cannot be read. */
function searchCommand({ pattern, glob, max_results }: SearchInput, path: string): string {
  const expression = `-e ${shellQuoted(pattern)}`;
  const excluded = unlistedFolders.filter((name) => name !== posix.basename(path));
  const options = [
    ...excluded.map((name) => `--exclude-dir=${shellQuoted(name)}`),
    ...(glob === undefined ? [] : [`--include=${shellQuoted(glob)}`]),
  ];
  const where = path === '.' ? '' : `-- ${shellQuoted(path)}`;
  return [
    'export LC_ALL=C.UTF-8',
    `grep -qP ${expression} /dev/null; [ $? -le 1 ] || exit ${ended.invalidPattern}`,
    `grep -rHnIP -D skip ${options.join(' ')} ${expression} ${where} 2>/dev/null | cut -b 1-${lineBytes} | head -n ${max_results + 1}`,
    'exit "${PIPESTATUS[0]}"',
  ].join('\n');
}

function resultOfSearch({ ending, exitCode, output }: CommandOutcome, { max_results }: SearchInput): ToolResult {
  if (ending === 'sandbox-lost') throw new SandboxError('lost', 'The sandbox died during the search.');
  if (ending === 'timeout') {
    return toFailedResult('The search took too long. Name a folder or a glob, or take a simpler expression.');
  }
  if (exitCode === ended.invalidPattern) return toFailedResult(output.trim().slice(0, 1_000));
  if (exitCode !== ended.incomplete && !isGrepEnd(exitCode)) return toFailedResult(`The search failed (${ending}).`);

  const lines = output.split('\n').filter((line) => line !== '');
  const shown = fitting(lines.slice(0, max_results).map((line) => line.replace(/\uFFFD+$/, ''))); // a cut character
  const notes = [
    ...(shown.length < lines.length ? [`only the first ${shown.length} matches are shown: narrow the search`] : []),
    ...(exitCode === ended.incomplete ? ['some files could not be searched'] : []),
  ];
  const text = shown.length === 0 ? 'No match.' : shown.join('\n');
  return toSuccess(`${text}${notes.map((note) => `\n[${note}]`).join('')}`, shown.length < lines.length);
}

const isGrepEnd = (exitCode: number | undefined): boolean =>
  exitCode === ended.found || exitCode === ended.nothing || exitCode === ended.enough;

function fitting(lines: readonly string[]): readonly string[] {
  let characters = 0;
  const tooMany = lines.findIndex((line) => (characters += line.length + 1) > resultCharacters);
  return tooMany === -1 ? lines : lines.slice(0, tooMany);
}
