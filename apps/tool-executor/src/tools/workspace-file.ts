import { failedResult, type ToolResult } from '@rondo/contract';
import { SandboxError, type SandboxFiles, shownPath } from '../sandboxes';

const chunkBytes = 2 * 1024 * 1024;

/**
 * A whole file of the workspace, read in pieces inside the sandbox, which resolves its path and links there. Undefined when
 * it is larger than the limit.
 */
export async function wholeFile(files: SandboxFiles, path: string, limit: number): Promise<Buffer | undefined> {
  const first = await files.read(path, { offset: 0, length: chunkBytes });
  if (first.size > limit) return undefined;

  const pieces = [first.content];
  for (let have = first.content.length; have < first.size;) {
    const { content } = await files.read(path, { offset: have, length: chunkBytes });
    if (content.length === 0) break; // it was shortened meanwhile
    pieces.push(content);
    have += content.length;
  }
  return Buffer.concat(pieces);
}

/** What the sandbox refuses about a file, for the model. Throws again what is not about the file. */
export function fileProblem(error: unknown, given: string): ToolResult {
  const isAboutFile = error instanceof SandboxError && error.code !== 'lost' && error.code !== 'unavailable';
  if (!isAboutFile) throw error;
  const path = shownPath(given);
  if (error.code === 'not_found') return failedResult(`${path} does not exist.`);
  if (error.code === 'not_a_file') return failedResult(`${path} is not a file.`);
  return failedResult(error.message);
}
