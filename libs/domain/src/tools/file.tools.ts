import { z } from 'zod';
import { defineTool } from './define-tool';

const filePath = z.string().min(1).max(4_096).describe('Path of the file, relative to /workspace.');
const folderPath = z.string().min(1).max(4_096).describe('Folder, relative to /workspace.');
/** No longer than what a sandbox takes in one piece, in bytes. */
const fileContents = z.string().max(4_194_304).describe('The whole contents of the file.');
const permissions = z.string().regex(/^[0-7]{3}$/, 'three octal digits');

/** Files are quick: what takes longer than this is stuck. */
const timeoutMs = 30_000;

export const createFile = defineTool({
  name: 'create_file',
  description: 'Create a new file with the given contents. Missing folders are made. Fails if the file exists.',
  input: z.strictObject({ file_path: filePath, file_contents: fileContents, permissions: permissions.default('644') }),
  powers: ['writes_files'],
  effect: 'unsafe',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs,
  group: 'files',
  example: { file_path: 'src/greet.py', file_contents: 'def greet(name):\n    print(f"Hello, {name}!")' },
  xml: { content: 'file_contents' },
});

export const readFile = defineTool({
  name: 'read_file',
  description: 'Read a text file, or some of its lines.',
  input: z.strictObject({
    file_path: filePath,
    start_line: z.number().int().min(1).optional().describe('First line, counted from 1.'),
    end_line: z.number().int().min(1).optional().describe('Last line, included.'),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs,
  group: 'files',
  xml: { attributes: ['file_path', 'start_line', 'end_line'] },
});

export const strReplace = defineTool({
  name: 'str_replace',
  description: 'Replace a piece of text in a file. old_str must occur exactly once, byte for byte.',
  input: z.strictObject({ file_path: filePath, old_str: z.string().min(1), new_str: z.string() }),
  powers: ['writes_files'],
  effect: 'unsafe',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs,
  group: 'files',
  example: { file_path: 'src/greet.py', old_str: 'Hello', new_str: 'Good morning' },
  xml: { attributes: ['file_path'] },
});

export const fullFileRewrite = defineTool({
  name: 'full_file_rewrite',
  description: 'Replace the whole contents of a file that exists.',
  input: z.strictObject({
    file_path: filePath,
    file_contents: fileContents,
    permissions: permissions.optional().describe('Default: as they are.'),
  }),
  powers: ['writes_files'],
  effect: 'idempotent',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs,
  group: 'files',
  xml: { content: 'file_contents' },
});

export const writeFile = defineTool({
  name: 'write_file',
  description: 'Write a file: create it, or replace its whole contents. Missing folders are made.',
  input: z.strictObject({ file_path: filePath, file_contents: fileContents }),
  powers: ['writes_files'],
  effect: 'idempotent',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs,
  group: 'files',
  xml: { content: 'file_contents' },
});

export const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Delete a file. Fails if it does not exist.',
  input: z.strictObject({ file_path: filePath }),
  powers: ['deletes_files'],
  effect: 'unsafe',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs,
  group: 'files',
  xml: { attributes: ['file_path'] },
});

export const listFiles = defineTool({
  name: 'list_files',
  description: 'List files and folders below a folder, without dependency and version-control folders.',
  input: z.strictObject({
    path: folderPath.default('.'),
    depth: z.number().int().min(1).max(10).default(2),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs,
  group: 'files',
  xml: { attributes: ['path', 'depth'] },
});

export const createDirectory = defineTool({
  name: 'create_directory',
  description: 'Create a folder, with the folders above it. It may exist.',
  input: z.strictObject({ path: folderPath }),
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs,
  group: 'files',
  xml: { attributes: ['path'] },
});

export const searchFiles = defineTool({
  name: 'search_files',
  description:
    'Find the lines that match a regular expression (Perl syntax) in the text files below a folder. Dependency and ' +
    'version-control folders are skipped.',
  input: z.strictObject({
    pattern: z.string().min(1).max(1_000),
    path: folderPath.default('.'),
    glob: z.string().min(1).max(200).optional().describe('Names of the files to search, for example *.ts.'),
    max_results: z.number().int().min(1).max(500).default(100),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs,
  group: 'files',
  example: { pattern: 'def \\w+\\(', path: 'src', glob: '*.py' },
  xml: { attributes: ['path', 'glob', 'max_results'], content: 'pattern' },
});

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

export const textExtract = defineTool({
  name: 'text_extract',
  description:
    'Read the text of a document of the workspace: PDF, Word (docx), Excel (xlsx), PowerPoint (pptx), CSV, HTML or plain ' +
    'text. A text that is too long for one result is saved as a file, to be read on with read_file.',
  input: z.strictObject({
    file_path: z.string().min(1).max(4_096).describe('Path of the document, relative to /workspace.'),
  }),
  effect: 'idempotent',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs: 120_000,
  group: 'files',
  example: { file_path: 'report.pdf' },
  xml: { attributes: ['file_path'] },
});

export const seeImage = defineTool({
  name: 'see_image',
  description:
    'Look at an image file of the workspace: JPEG, PNG, GIF (its first frame) or WebP, 10 MB at most. You see it, scaled ' +
    'down to 1920 x 1080 if it is larger, with the result of this call.',
  input: z.strictObject({
    file_path: z.string().min(1).max(4_096).describe('Path of the image, relative to /workspace.'),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 60_000,
  group: 'files',
  example: { file_path: 'screenshots/home.png' },
  xml: { attributes: ['file_path'] },
});
