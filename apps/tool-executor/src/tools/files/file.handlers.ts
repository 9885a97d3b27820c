import { posix } from 'node:path';
import { type ToolResult, failedResult } from '@rondo/contract';
import { clipMiddle } from '../clip-text';
import { type SandboxFiles, SandboxError, shownPath } from '../../sandboxes';
import { type ToolHandler, type InputOf, succeeded } from '../tool-handler';
import { treeOf, unlistedFolders } from './file-tree';
import { replaceOnce } from './replace-once';
import { decodeText, selectLines } from './select-lines';

/** Changes of one file run one after the other; otherwise one of two concurrent edits would be lost. */
const mutexKeyOfFile = ({ file_path }: { file_path: string }): string => `file ${shownPath(file_path)}`;

export const createFile: ToolHandler<InputOf<'create_file'>> = {
  mutexKey: mutexKeyOfFile,
  handle: ({ file_path, file_contents, permissions }, { sandbox: { files } }) =>
    aboutFile(
      file_path,
      async (path) => {
        try {
          await files.write(file_path, file_contents, { mode: 'create', permissions: Number.parseInt(permissions, 8) });
        } catch (error) {
          const exists = error instanceof SandboxError && error.code === 'already_exists';
          if (!exists || (await files.stat(file_path)) !== undefined) throw error;
          return failedResult(`${posix.dirname(path)} is not a folder.`); // A file has the folder's name.
        }
        return succeeded(`Created ${path} (${sizeOf(file_contents)}).`);
      },
      writeInParts,
    ),
};

export const fullFileRewrite: ToolHandler<InputOf<'full_file_rewrite'>> = {
  mutexKey: mutexKeyOfFile,
  handle: ({ file_path, file_contents, permissions }, { sandbox: { files } }) =>
    aboutFile(
      file_path,
      async (path) => {
        await files.write(file_path, file_contents, { mode: 'replace', permissions: Number.parseInt(permissions, 8) });
        return succeeded(`Rewrote ${path} (${sizeOf(file_contents)}).`);
      },
      writeInParts,
    ),
};

export const deleteFile: ToolHandler<InputOf<'delete_file'>> = {
  mutexKey: mutexKeyOfFile,
  handle: ({ file_path }, { sandbox: { files } }) =>
    aboutFile(file_path, async (path) => {
      await files.delete(file_path);
      return succeeded(`Deleted ${path}.`);
    }),
};

export const strReplace: ToolHandler<InputOf<'str_replace'>> = {
  mutexKey: mutexKeyOfFile,
  handle: ({ file_path, old_str, new_str }, { sandbox: { files } }) =>
    aboutFile(file_path, async (path) => {
      const replaced = replaceOnce(await contentOf(files, file_path), old_str, new_str);
      switch (replaced.found) {
        case 'nowhere':
          return failedResult(`old_str does not occur in ${path}. It must match byte for byte, white space included.`);
        case 'several':
          return failedResult(
            `old_str occurs more than once in ${path}, on lines ${replaced.lines.join(', ')}. ` +
              'Take in more of the text around the one that you mean.',
          );
        case 'once':
          await files.write(file_path, replaced.content, { mode: 'replace' });
          return succeeded(`Edited ${path}. It now reads:\n${clipMiddle(replaced.snippet, { limit: 4_000 }).text}`);
      }
    }),
};

export const readFile: ToolHandler<InputOf<'read_file'>> = {
  handle: ({ file_path, start_line, end_line }, { sandbox: { files } }) =>
    aboutFile(file_path, async (path) => {
      const content = await contentOf(files, file_path);
      const text = decodeText(content);
      if (text === undefined) return failedResult(`${path} is not a text file (${content.length} bytes).`);
      return selectLines(text, { first: start_line, last: end_line });
    }),
};

export const listFiles: ToolHandler<InputOf<'list_files'>> = {
  handle: ({ path, depth }, { sandbox: { files } }) =>
    aboutFile(path, async (folder) => {
      const { entries, truncated } = await files.list(path, { depth, exclude: unlistedFolders });
      const clipped = clipMiddle(treeOf(folder, entries));
      const note = truncated ? '\n[… there is more: list a folder further down, or with less depth]' : '';
      return succeeded(`${clipped.text}${note}`, truncated || clipped.truncated);
    }),
};

const writeInParts = 'Write it in parts: a first one like this, and the others appended with execute_command (cat >>).';

const contentOf = async (files: SandboxFiles, path: string): Promise<Buffer> => (await files.read(path)).content;

/** Turns refusals of the sandbox into results that name the file as the model does. A lost sandbox is not a refusal. */
async function aboutFile(
  given: string,
  work: (path: string) => Promise<ToolResult>,
  whatHelps = 'Work on parts of it with execute_command, for example with sed.',
): Promise<ToolResult> {
  const path = shownPath(given);
  try {
    return await work(path);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    switch (error.code) {
      case 'not_found':
        return failedResult(`${path} does not exist.`);
      case 'already_exists':
        return failedResult(`${path} already exists. Change it with str_replace or full_file_rewrite.`);
      case 'not_a_file':
        return failedResult(`${path} is not a file.`);
      case 'not_a_directory':
        return failedResult(`${path} is not in a folder, or not a folder itself.`);
      case 'too_large':
        return failedResult(`${error.message} ${whatHelps}`);
      case 'invalid_path':
      case 'invalid_request':
      case 'session_busy':
      case 'unsupported':
      case 'failed':
        return failedResult(error.message);
      case 'unavailable':
      case 'lost':
        throw error;
    }
  }
}

const sizeOf = (text: string): string => `${Buffer.byteLength(text)} bytes`;
