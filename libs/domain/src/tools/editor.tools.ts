import { z } from 'zod';
import { defineTool } from './define-tool';

const editedCharacters = 200_000;
const text = z.string().max(editedCharacters).optional();
const line = z.number().int();

const input = z.strictObject({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string().min(1).max(4_096).describe('File, or folder to view, relative to /workspace.'),
  file_text: text.describe('For create: the contents of the new file.'),
  old_str: text.describe('For str_replace: the text to replace. It must occur exactly once, byte for byte.'),
  new_str: text.describe('For str_replace and insert: the new text.'),
  insert_line: line
    .min(0)
    .optional()
    .describe('For insert: the line after which new_str is inserted; 0 for the start.'),
  view_range: z
    .array(line.min(-1))
    .length(2)
    .optional()
    .describe('For view of a file: first and last line; -1 as the last means the end.'),
});

export const strReplaceEditor = defineTool({
  name: 'str_replace_editor',
  description:
    'View, create and edit files. view shows a file with line numbers, or a folder to depth 2. create makes a new file. ' +
    'str_replace replaces a text that occurs exactly once. insert adds lines. undo_edit undoes the last edit of a file.',
  input,
  powers: ['writes_files'],
  effect: ({ command }: z.infer<typeof input>) => (command === 'view' ? 'pure' : 'unsafe'),
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs: 30_000,
  group: 'files',
  example: { command: 'str_replace', path: 'src/greet.py', old_str: 'Hello', new_str: 'Good morning' },
});
