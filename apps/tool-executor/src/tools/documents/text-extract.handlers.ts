import { posix } from 'node:path';
import { type ToolResult, toFailedResult } from '@rondo/contract';
import { Unreadable } from '../../parsing/parser';
import { wholeFile } from '../../sandboxes/provider/workspace-file';
import { aboutFile } from '../files/about-file';
import { type ToolInput, type ToolContext, type ToolHandler } from '../tool-handler';
import { decodeText } from '../web/decode-text';
import { withinTime } from '../within-time';
import { type Extracted, describeText, saveText, textPath } from './extracted-text';

const largestDocument = 50 * 1024 * 1024;
const limits = { characters: 1_000_000, pages: 2_000 } as const;

export const textExtract: ToolHandler<ToolInput<'text_extract'>> = {
  mutexKey: ({ file_path }) => `file ${textPath(file_path)}`,
  handle: ({ file_path }, context) =>
    aboutFile(file_path, async (path) => {
      const bytes = await wholeFile(context.sandbox.files, path, largestDocument);
      if (!bytes) return toFailedResult(`${path} is larger than ${largestDocument / 1024 / 1024} MB.`);
      if (bytes.length === 0) return toFailedResult(`${path} is empty.`);
      return withinTime(context, (signal) => readText(path, bytes, { context, signal }));
    }),
};

interface Extraction {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
}

async function readText(path: string, bytes: Buffer, extraction: Extraction): Promise<ToolResult> {
  try {
    const extracted = await extract(path, bytes, extraction);
    return describeText(path, extracted, await saveText(path, extracted, extraction.context.sandbox.files));
  } catch (error) {
    if (error instanceof Unreadable) return toFailedResult(`${path} cannot be read: ${error.message}.`);
    throw error;
  }
}

/** A document by its bytes; a text by its name only as far as HTML is not shown with its tags. */
async function extract(path: string, bytes: Buffer, { context, signal }: Extraction): Promise<Extracted> {
  const { parser } = context.services;
  const text = isDocument(bytes) ? undefined : decodeText(bytes);
  if (text === undefined) return parser.parse({ kind: 'document', ...limits }, bytes, signal);
  if (!/\.x?html?$/i.test(path)) return toExtracted(posix.extname(path).slice(1) || 'text', text);

  const { title, markdown } = await parser.parse({ kind: 'page', url: '' }, Buffer.from(text), signal);
  return toExtracted('html', title === '' ? markdown : `# ${title}\n\n${markdown}`);
}

const isDocument = (bytes: Buffer): boolean =>
  bytes.subarray(0, 1024).includes('%PDF-') ||
  /^(504b0304|d0cf11e0|7b5c7274)/.test(bytes.subarray(0, 4).toString('hex'));

const toExtracted = (format: string, text: string): Extracted => ({
  format,
  text: text.slice(0, limits.characters),
  truncated: text.length > limits.characters,
});
