import { posix } from 'node:path';
import { type SandboxFiles, SandboxError } from '../../sandboxes';
import type { SiteFile, SiteSource } from '../../sites/site-store';
import { filePieces } from '../../sandboxes/provider/workspace-file';

const maxFiles = 1_000;
const maxDepth = 20;
/** Neither listed inside nor published, and neither is anything whose name begins with a dot: keys and histories are there. */
const leftOut = ['node_modules', '.git'];

interface FoundFile {
  readonly path: string;
  readonly size: number;
}

/** The files of a folder, or the single file, as they are now. Rejects with SandboxError when it is not fit to be a site. */
export async function readSnapshot(files: SandboxFiles, path: string): Promise<SiteSource & { count: number }> {
  const status = await files.stat(path);
  if (!status) throw new SandboxError('not_found', `${path} does not exist.`);
  if (status.kind === 'file') {
    const only = { path: posix.basename(path), size: status.size };
    return { index: only.path, count: 1, files: contents(files, posix.dirname(path), [only]) };
  }
  if (status.kind !== 'directory') throw new SandboxError('failed', `${path} is neither a folder nor a file.`);
  const found = await filesIn(files, path);
  return { index: 'index.html', count: found.length, files: contents(files, path, found) };
}

async function filesIn(files: SandboxFiles, path: string): Promise<FoundFile[]> {
  const { entries: listed, truncated } = await files.list(path, { depth: maxDepth, exclude: leftOut });
  const entries = listed.filter((entry) => !entry.path.split('/').some(isPrivate));
  const odd = entries.find(({ kind }) => kind === 'link' || kind === 'other');
  if (odd) throw new SandboxError('failed', `${odd.path} is a link or not a file. A site has files only: copy it.`);
  const closed = entries.find(({ unreadable }) => unreadable);
  if (closed) throw new SandboxError('failed', `${closed.path} cannot be read.`);
  const tooDeep = entries.find((entry) => entry.path.split('/').length >= maxDepth && entry.kind === 'directory');
  if (tooDeep) throw new SandboxError('failed', `${tooDeep.path} lies too deep: at most ${maxDepth} folders.`);
  const found = entries.filter(({ kind }) => kind === 'file');
  if (truncated || found.length > maxFiles) {
    throw new SandboxError(
      'failed',
      `The folder has more than ${maxFiles} files. Deploy only what people need to see.`,
    );
  }
  if (found.length === 0) throw new SandboxError('failed', `${path} has no files.`);
  return found;
}

const isPrivate = (name: string): boolean => leftOut.includes(name) || (name.startsWith('.') && name !== '.well-known');

/**
 * A file that became a link since the folder was listed is refused. A link that a process of the sandbox puts there and takes
 * away in between leads to a file of the same sandbox, which the process could have copied as well.
 */
async function* contents(files: SandboxFiles, folder: string, found: readonly FoundFile[]): AsyncGenerator<SiteFile> {
  for (const { path, size } of found) {
    const location = posix.join(folder, path);
    yield { path, content: filePieces(files, location, { size }) };
    const now = await files.stat(location);
    if (now?.kind !== 'file' || now.size !== size) {
      throw new SandboxError(
        'failed',
        `${location} was changed while it was copied. Deploy again when nothing writes.`,
      );
    }
  }
}
