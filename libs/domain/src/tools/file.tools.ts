import { z } from 'zod';
import { defineTool } from './define-tool';

/** Where a path begins is said where a file or folder is made first: with `create_file` and `write_file`. */
const filePath = z.string().min(1).max(4_096);
const folderPath = z.string().min(1).max(4_096);
/** No longer than what a sandbox takes in one piece, in bytes. */
const fileContents = z.string().max(4_194_304);
const permissions = z.string().regex(/^[0-7]{3}$/, 'three octal digits');

/** Files are quick: what takes longer than this is stuck. */
const timeoutMs = 30_000;

export const createFile = defineTool({
  name: 'create_file',
  description: 'Create a new file, with missing folders. Fails if it exists. Paths are relative to /workspace.',
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
    start_line: z.number().int().min(1).optional().describe('From 1.'),
    end_line: z.number().int().min(1).optional().describe('Included.'),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs,
  group: 'files',
  xml: { attributes: ['file_path', 'start_line', 'end_line'] },
});

export const strReplace = defineTool({
  name: 'str_replace',
  description: 'Replace a text in a file. old_str must occur exactly once, byte for byte.',
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
    permissions: permissions.optional(),
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
  description: 'Create a file, with missing folders, or replace its contents. Paths are relative to /workspace.',
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
  description: 'Delete a file.',
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
  description: 'List files and folders below a folder, without those of dependencies and version control.',
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
  description: 'Create a folder and those above it.',
  input: z.strictObject({ path: folderPath }),
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs,
  group: 'files',
  xml: { attributes: ['path'] },
});

export const searchFiles = defineTool({
  name: 'search_files',
  description: 'Find the lines that match a Perl regular expression in the text files that list_files lists.',
  input: z.strictObject({
    pattern: z.string().min(1).max(1_000),
    path: folderPath.default('.'),
    glob: z.string().min(1).max(200).optional().describe('Of file names: *.ts.'),
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
  path: z.string().min(1).max(4_096).describe('Relative to /workspace.'),
  file_text: text.describe('For create.'),
  old_str: text.describe('For str_replace.'),
  new_str: text.describe('For str_replace and insert.'),
  insert_line: line.min(0).optional().describe('For insert: the line before it; 0 for the start.'),
  view_range: z.array(line.min(-1)).length(2).optional().describe('For view: first and last line; -1 is the end.'),
});

export const strReplaceEditor = defineTool({
  name: 'str_replace_editor',
  description:
    'view shows a file with line numbers, or a folder to depth 2. create makes a new file. str_replace replaces old_str, which ' +
    'must occur exactly once, byte for byte. insert adds lines. undo_edit undoes the last edit of a file.',
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
    'Read the text of a PDF, docx, xlsx, pptx, CSV, HTML or text file. A long one is saved as a file too, to be read on.',
  input: z.strictObject({
    file_path: filePath,
  }),
  effect: 'idempotent',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs: 120_000,
  group: 'files',
  example: { file_path: 'report.pdf' },
  xml: { attributes: ['file_path'] },
});

export const transcribe = defineTool({
  name: 'transcribe',
  description:
    'Read what is said in a sound or video file of the workspace: flac, m4a, mp3, mp4, mpeg, mpga, ogg, wav or webm, 25 MB at ' +
    'most. Convert or cut any other file with a command first, if ffmpeg is there. A text that is too long for one result is ' +
    'saved as a file, to be read on with read_file.',
  input: z.strictObject({
    file_path: z.string().min(1).max(4_096).describe('Path of the file, relative to /workspace.'),
    language: z
      .string()
      .regex(/^[a-z]{2,3}$/)
      .optional()
      .describe('The language that is spoken, as ISO 639 writes it: en, de, zh. Without it, it is recognized.'),
  }),
  effect: 'idempotent',
  runsIn: 'executor',
  exclusive: 'file',
  needs: 'transcription',
  timeoutMs: 600_000,
  group: 'files',
  example: { file_path: 'interview.mp3', language: 'en' },
  xml: { attributes: ['file_path', 'language'] },
});

export const seeImage = defineTool({
  name: 'see_image',
  description: 'See a JPEG, PNG, GIF or WebP of at most 10 MB, scaled down to 1920 x 1080.',
  input: z.strictObject({
    file_path: filePath,
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 60_000,
  group: 'files',
  example: { file_path: 'screenshots/home.png' },
  xml: { attributes: ['file_path'] },
});
