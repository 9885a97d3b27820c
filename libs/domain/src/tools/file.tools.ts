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
