import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { type ToolResult, failedResult } from '@rondo/contract';
import { Unreadable } from '../../parsing/parser';
import { wholeFile } from '../../sandboxes/provider/workspace-file';
import { SandboxError, type SandboxFiles, shownPath, workspacePath } from '../../sandboxes';
import { clipMiddle, resultCharacters } from '../clip-text';
import { aboutFile } from '../files/about-file';
import { writeAside } from '../files/write-aside';
import { type InputOf, type ToolContext, type ToolHandler, succeeded } from '../tool-handler';
import { decodeText } from '../web/decode-text';
import { withinTime } from '../within-time';

const largestDocument = 50 * 1024 * 1024;
const limits = { characters: 1_000_000, pages: 2_000 } as const;
const folder = '.extracted';

interface Extracted {
  readonly format: string;
  readonly text: string;
  readonly truncated: boolean;
}

export const textExtract: ToolHandler<InputOf<'text_extract'>> = {
  mutexKey: ({ file_path }) => `file ${textPathOf(file_path)}`,
  handle: ({ file_path }, context) =>
    aboutFile(file_path, async (path) => {
      const bytes = await wholeFile(context.sandbox.files, path, largestDocument);
      if (!bytes) return failedResult(`${path} is larger than ${largestDocument / 1024 / 1024} MB.`);
      if (bytes.length === 0) return failedResult(`${path} is empty.`);
      return withinTime(context, (signal) => textOf(path, bytes, { context, signal }));
    }),
};

interface Extraction {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
}

async function textOf(path: string, bytes: Buffer, extraction: Extraction): Promise<ToolResult> {
  try {
    const extracted = await extract(path, bytes, extraction);
    return resultOf(path, extracted, await saved(path, extracted, extraction.context.sandbox.files));
  } catch (error) {
    if (error instanceof Unreadable) return failedResult(`${path} cannot be read: ${error.message}.`);
    throw error;
  }
}

/** A document by its bytes; a text by its name only as far as HTML is not shown with its tags. */
async function extract(path: string, bytes: Buffer, { context, signal }: Extraction): Promise<Extracted> {
  const { parser } = context.services;
  const text = isDocument(bytes) ? undefined : decodeText(bytes);
  if (text === undefined) return parser.parse({ kind: 'document', ...limits }, bytes, signal);
  if (!/\.x?html?$/i.test(path)) return bounded(posix.extname(path).slice(1) || 'text', text);

  const { title, markdown } = await parser.parse({ kind: 'page', url: '' }, Buffer.from(text), signal);
  return bounded('html', title === '' ? markdown : `# ${title}\n\n${markdown}`);
}

const isDocument = (bytes: Buffer): boolean =>
  bytes.subarray(0, 1024).includes('%PDF-') || /^(504b0304|d0cf11e0)/.test(bytes.subarray(0, 4).toString('hex'));

const bounded = (format: string, text: string): Extracted => ({
  format,
  text: text.slice(0, limits.characters),
  truncated: text.length > limits.characters,
});

/** One file for each document: its name, and a mark that tells documents of the same name in other folders apart. */
function textPathOf(given: string): string {
  const path = shownPath(given);
  const mark = createHash('sha256').update(path).digest('hex').slice(0, 8);
  return `${folder}/${posix.basename(path).slice(0, 100)}-${mark}.txt`;
}

/** Only what is too long for the result is saved. Undefined when the workspace cannot be written to: the result is useful without it. */
async function saved(given: string, { text }: Extracted, files: SandboxFiles): Promise<string | undefined> {
  if (text.length <= resultCharacters) return undefined;
  const path = textPathOf(given);
  try {
    await writeAside(files, path, text);
    return `${workspacePath}/${path}`;
  } catch (error) {
    if (error instanceof SandboxError && error.code !== 'lost') return undefined;
    throw error;
  }
}

function resultOf(path: string, { format, text, truncated }: Extracted, restIn: string | undefined) {
  const clipped = clipMiddle(text, { restIn });
  const length = `${text.length} characters${truncated ? ', cut off there because it is longer' : ''}`;
  const where = restIn === undefined ? '' : `; the whole text is in ${restIn}`;
  return succeeded(`[${path}, ${format}: ${length}${where}]\n\n${clipped.text}`, truncated || clipped.truncated);
}
