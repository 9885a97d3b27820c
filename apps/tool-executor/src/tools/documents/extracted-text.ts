import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { ToolResult } from '@rondo/contract';
import { SandboxError, type SandboxFiles, toShownPath, workspacePath } from '../../sandboxes';
import { clipMiddle, resultCharacters } from '../clip-text';
import { writeAside } from '../write-aside';
import { toSuccess } from '../tool-handler';

const folder = '.extracted';

/** The text of a file of another format. */
export interface Extracted {
  readonly format: string;
  readonly text: string;
  readonly truncated: boolean;
}

/** One file for each document: its name, and a mark that tells documents of the same name in other folders apart. */
export function textPath(given: string): string {
  const path = toShownPath(given);
  const mark = createHash('sha256').update(path).digest('hex').slice(0, 8);
  return `${folder}/${posix.basename(path).slice(0, 100)}-${mark}.txt`;
}

/** Only what is too long for the result is saved. Undefined when the workspace cannot be written to: the result is useful without it. */
export async function saveText(given: string, { text }: Extracted, files: SandboxFiles): Promise<string | undefined> {
  if (text.length <= resultCharacters) return undefined;
  const path = textPath(given);
  try {
    await writeAside(files, path, text);
    return `${workspacePath}/${path}`;
  } catch (error) {
    if (error instanceof SandboxError && error.code !== 'lost') return undefined;
    throw error;
  }
}

/** The result: the text, or its beginning and end and where the whole of it is. */
export function describeText(
  path: string,
  { format, text, truncated }: Extracted,
  restIn: string | undefined,
): ToolResult {
  const clipped = clipMiddle(text, { restIn });
  const length = `${text.length} characters${truncated ? ', cut off there because it is longer' : ''}`;
  const where = restIn === undefined ? '' : `; the whole text is in ${restIn}`;
  return toSuccess(`[${path}, ${format}: ${length}${where}]\n\n${clipped.text}`, truncated || clipped.truncated);
}
