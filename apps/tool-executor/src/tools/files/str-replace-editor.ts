import { type ToolResult, toFailedResult } from '@rondo/contract';
import type { SandboxFiles } from '../../sandboxes';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { aboutFile, readContent, toMutexKey, toSize } from './about-file';
import { EditHistory } from './edit-history';
import { listFolder } from './file-tree';
import {
  lineEndsLike,
  replaceOnce,
  snippetAround,
  type Edit,
  describeEdit,
  failEdit,
  resultOfReplacement,
} from './replace-once';
import { decodeText, listLines, selectLines } from './select-lines';

type EditorInput = ToolInput<'str_replace_editor'>;

interface Editing {
  readonly files: SandboxFiles;
  readonly history: EditHistory;
  /** As results name it. */
  readonly path: string;
  readonly call: string;
}

type EditorCommand = (input: EditorInput, editing: Editing) => Promise<ToolResult>;

const shownDepth = 2;

export const strReplaceEditor: ToolHandler<EditorInput> = {
  mutexKey: ({ command, path }) => (command === 'view' ? undefined : toMutexKey(path)),
  handle: (input, { sandbox: { files }, idempotencyKey: call }) =>
    aboutFile(input.path, (path) =>
      commands[input.command](input, { files, history: new EditHistory(files), path, call }),
    ),
};

const view: EditorCommand = async ({ path: given, view_range }, { files, path }) => {
  if ((await files.stat(given))?.kind === 'directory') {
    if (view_range) return toFailedResult(`${path} is a folder, which has no lines: leave out view_range.`);
    return listFolder(files, given, shownDepth);
  }
  const content = await readContent(files, given);
  const text = decodeText(content);
  if (text === undefined) return toFailedResult(`${path} is not a text file (${content.length} bytes).`);
  const [first, last] = view_range ?? [];
  return selectLines(numberLines(text), {
    first,
    last: last === -1 ? undefined : last,
    readOnWith: (line) => `view_range [${line}, -1]`,
  });
};

const create: EditorCommand = async ({ file_text, path: given }, { files, history, path, call }) => {
  if (file_text === undefined) return toFailedResult('create needs file_text.');
  const after = Buffer.from(file_text);
  await files.write(given, after, { mode: 'create' });
  const isKept = await history.remember(path, call, { before: undefined, after });
  return toSuccess(`Created ${path} (${toSize(file_text)}).${isKept ? '' : cannotBeUndone}`);
};

const change =
  (edit: (content: Buffer, input: EditorInput, path: string) => Edit): EditorCommand =>
  async (input, { files, history, path, call }) => {
    const before = await readContent(files, input.path);
    const { content: after, result } = edit(before, input, path);
    if (!after) return result;
    await files.write(input.path, after, { mode: 'replace' });
    const isKept = await history.remember(path, call, { before, after });
    return isKept ? result : { ...result, output: `${result.output}${cannotBeUndone}` };
  };

const undo: EditorCommand = async ({ path: given }, { files, history, path }) => {
  const content = await readContent(files, given);
  const last = await history.last(path);
  if (!last) return toFailedResult(`No edit of ${path} by this tool is known that could be undone.`);
  if (!last.isCurrent(content)) {
    return toFailedResult(`${path} was changed since its last edit by something else, which undo_edit would lose.`);
  }
  await (last.before ? files.write(given, last.before, { mode: 'replace' }) : files.delete(given));
  await last.forget();
  return toSuccess(`Undid the last edit of ${path}${last.before ? '.' : ', which had created it: it is deleted.'}`);
};

const commands: Record<EditorInput['command'], EditorCommand> = {
  view,
  create,
  str_replace: change((content, { old_str, new_str = '' }, path) => {
    if (!old_str) return failEdit('str_replace needs old_str, which must not be empty.');
    return resultOfReplacement(path, replaceOnce(content, old_str, new_str));
  }),
  insert: change((content, { insert_line, new_str }, path) => {
    if (insert_line === undefined || new_str === undefined) return failEdit('insert needs insert_line and new_str.');
    return insertAfterLine(content, { line: insert_line, text: new_str, path });
  }),
  undo_edit: undo,
};

const cannotBeUndone = '\n[undo_edit cannot undo this edit: the file is too large, or the workspace is full]';

const numberLines = (text: string): string =>
  listLines(text)
    .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
    .join('');

interface Insertion {
  /** 0 inserts before the first line. */
  readonly line: number;
  readonly text: string;
  readonly path: string;
}

const newline = 0x0a;

/** What some editors put before the first character of a file. Anywhere else it is a character of the text. */
const utf8Mark = Buffer.from('\ufeff');

/** Inserts whole lines after a line. A text without a line end at its end, and a last line without one, get it. */
function insertAfterLine(content: Buffer, { line, text, path }: Insertion): Edit {
  if (content.includes(0)) return failEdit(`${path} is not a text file (${content.length} bytes).`);
  const start = content.subarray(0, utf8Mark.length).equals(utf8Mark) ? utf8Mark.length : 0;
  const ends = lineEnds(content);
  const at = line === 0 ? start : ends[line - 1];
  if (at === undefined) return failEdit(`${path} has only ${ends.length} lines.`);

  const before = content.subarray(0, at);
  const isOpen = at > start && content[at - 1] !== newline;
  const isClosed = text.endsWith('\n') || at === content.length;
  const withEnds = lineEndsLike(content);
  const inserted = Buffer.from(withEnds(`${isOpen ? '\n' : ''}${text}${isClosed ? '' : '\n'}`));
  const result = Buffer.concat([before, inserted, content.subarray(at)]);
  return { content: result, result: toSuccess(describeEdit(path, snippetAround(result, at, at + inserted.length))) };
}

/** Where each line ends, its line end included. */
function lineEnds(content: Buffer): number[] {
  const ends: number[] = [];
  for (let at = content.indexOf(newline); at !== -1; at = content.indexOf(newline, at + 1)) ends.push(at + 1);
  if (content.length > (ends.at(-1) ?? 0)) ends.push(content.length);
  return ends;
}
