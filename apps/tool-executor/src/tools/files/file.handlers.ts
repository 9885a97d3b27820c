import { posix } from 'node:path';
import { toFailedResult } from '@rondo/contract';
import { type ToolHandler, type ToolInput, toSuccess } from '../tool-handler';
import { aboutFile, readContent, toMutexKey, toSize } from './about-file';
import { listFolder } from './file-tree';
import { replaceOnce, resultOfReplacement } from './replace-once';
import { decodeText, selectLines } from './select-lines';
import { shellQuoted, privateSession } from '../shell/tool-commands';

export const createFile: ToolHandler<ToolInput<'create_file'>> = {
  mutexKey: ({ file_path }) => toMutexKey(file_path),
  handle: ({ file_path, file_contents, permissions }, { sandbox: { files } }) =>
    aboutFile(
      file_path,
      async (path) => {
        await files.write(file_path, file_contents, { mode: 'create', permissions: Number.parseInt(permissions, 8) });
        return toSuccess(`Created ${path} (${toSize(file_contents)}).${hintAbout(path)}`);
      },
      writeInParts,
    ),
};

export const fullFileRewrite: ToolHandler<ToolInput<'full_file_rewrite'>> = {
  mutexKey: ({ file_path }) => toMutexKey(file_path),
  handle: ({ file_path, file_contents, permissions }, { sandbox: { files } }) =>
    aboutFile(
      file_path,
      async (path) => {
        const mode = permissions === undefined ? {} : { permissions: Number.parseInt(permissions, 8) };
        await files.write(file_path, file_contents, { mode: 'replace', ...mode });
        return toSuccess(`Rewrote ${path} (${toSize(file_contents)}).`);
      },
      writeInParts,
    ),
};

export const deleteFile: ToolHandler<ToolInput<'delete_file'>> = {
  mutexKey: ({ file_path }) => toMutexKey(file_path),
  handle: ({ file_path }, { sandbox: { files } }) =>
    aboutFile(file_path, async (path) => {
      await files.delete(file_path);
      return toSuccess(`Deleted ${path}.`);
    }),
};

export const strReplace: ToolHandler<ToolInput<'str_replace'>> = {
  mutexKey: ({ file_path }) => toMutexKey(file_path),
  handle: ({ file_path, old_str, new_str }, { sandbox: { files } }) =>
    aboutFile(file_path, async (path) => {
      const content = await readContent(files, file_path);
      const edit = resultOfReplacement(path, replaceOnce(content, old_str, new_str));
      if (edit.content) await files.write(file_path, edit.content, { mode: 'replace' });
      return edit.result;
    }),
};

/** Creates the file or replaces it. */
export const writeFile: ToolHandler<ToolInput<'write_file'>> = {
  mutexKey: ({ file_path }) => toMutexKey(file_path),
  handle: ({ file_path, file_contents }, { sandbox: { files } }) =>
    aboutFile(
      file_path,
      async (path) => {
        await files.write(file_path, file_contents, { mode: 'put' });
        return toSuccess(`Wrote ${path} (${toSize(file_contents)}).`);
      },
      writeInParts,
    ),
};

export const readFile: ToolHandler<ToolInput<'read_file'>> = {
  handle: ({ file_path, start_line, end_line }, { sandbox: { files } }) =>
    aboutFile(file_path, async (path) => {
      const content = await readContent(files, file_path);
      const text = decodeText(content);
      if (text === undefined) return toFailedResult(`${path} is not a text file (${content.length} bytes).`);
      return selectLines(text, { first: start_line, last: end_line });
    }),
};

export const listFiles: ToolHandler<ToolInput<'list_files'>> = {
  handle: ({ path, depth }, { sandbox: { files } }) => aboutFile(path, () => listFolder(files, path, depth)),
};

const writeInParts = 'Write it in parts: a first one like this, and the others appended with a command (cat >>).';

const hintAbout = (path: string): string =>
  posix.basename(path) === 'index.html'
    ? ' If you have the tools: deploy publishes its folder as a site, and expose_port a server that shows it.'
    : '';

/** A command does it, so that every kind of sandbox has it. */
export const createDirectory: ToolHandler<ToolInput<'create_directory'>> = {
  handle: ({ path }, { sandbox, idempotencyKey, runId, timeoutMs, signal }) =>
    aboutFile(path, async (folder) => {
      if ((await sandbox.files.stat(path))?.kind === 'directory') return toSuccess(`${folder} exists already.`);
      const command = `mkdir -p -- ${shellQuoted(folder)}`;
      const request = { id: idempotencyKey, run: runId, command, cwd: '.', session: privateSession, timeoutMs };
      const { ending, exitCode, output } = await sandbox.exec(request, { signal });
      if (ending === 'killed') signal.throwIfAborted();
      if (exitCode !== 0) return toFailedResult(output.trim() || `${folder} was not created (${ending}).`);
      return toSuccess(`Created the folder ${folder}.`);
    }),
};
