import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { flush } from '../../provider/flush';
import { searchPath } from '../../provider/program-path';
import { removeTree } from './directory-tree';

const execute = promisify(execFile);
/** tar names each file that it has a problem with; the first ones are enough to say what is wrong. */
const errorBytes = 64_000;
const shownError = 300;

/** Holes stay holes, so that a disk image and a file with a gap take the space of their data. */
const format = ['--sparse', '--xattrs', '--numeric-owner'];
const exactTimes = ['--format=posix', '--pax-option=delete=atime,delete=ctime'];

/**
 * Workspaces that are packed: `<home>/archive.tar.gz` instead of `<home>/workspace` and its disk image. At any moment one of
 * the two is whole, and the directory decides which: while `workspace` exists it is the truth, and an archive beside it is
 * what an interrupted change has left. Nothing is ever deleted or filled under that name: it is moved away and into place.
 * What is being filled or deleted has a name of its own, because programs of an executor that was killed may still be at it.
 */
export class WorkspaceArchives {
  constructor(private readonly isRoot: boolean) {}

  /** The files are in the archive, and only there. */
  isPacked(home: string): boolean {
    return !existsSync(workspaceIn(home)) && existsSync(archiveIn(home));
  }

  /** In bytes on the disk. */
  async measureSize(home: string): Promise<number> {
    return (await stat(archiveIn(home))).size;
  }

  /**
   * Packs the files, reads the archive back, and deletes them. No command may run in the workspace. A signal gives up and
   * leaves the workspace as it is. Also completes what an earlier attempt has left.
   */
  async pack(home: string, signal: AbortSignal): Promise<void> {
    if (!this.isPacked(home)) {
      await this.settle(home);
      await this.write(home, signal);
      await rename(workspaceIn(home), join(home, newName('leaving')));
    }
    await rm(imageIn(home), { force: true });
    await this.removeLeftovers(home);
  }

  /** Brings the files back, if they are packed. Afterwards the workspace is whole, or there was none. */
  async restore(home: string): Promise<void> {
    if (!this.isPacked(home)) {
      await this.settle(home);
      return;
    }
    await this.removeLeftovers(home);
    const into = join(home, newName('restoring'));
    try {
      await this.unpack(home, into);
    } catch (error) {
      await removeTree(into).catch(() => undefined); // else the next attempt does it
      throw error;
    }
    await flush(home);
    await this.settle(home);
  }

  private async unpack(home: string, into: string): Promise<void> {
    await mkdir(into, { mode: 0o700 });
    const exact = [
      '--preserve-permissions',
      '--delay-directory-restore',
      this.isRoot ? '--same-owner' : '--no-same-owner',
    ];
    await run('tar', ['--extract', ...format, ...exact, '--gzip', '--file', archiveIn(home), '--directory', into]);
    await run('sync', ['-f', into]);
    if (existsSync(imageIn(into))) await rename(imageIn(into), imageIn(home));
    await rename(workspaceIn(into), workspaceIn(home));
  }

  /**
   * The files, packed into a new file beside them that is the caller's to delete. No command may run in the workspace. A signal
   * gives up. What an executor that was killed has left of such files is deleted.
   */
  async copy(home: string, signal: AbortSignal): Promise<string> {
    for (const name of await namesIn(home, copied)) await rm(join(home, name), { force: true });
    const copy = join(home, newName('copy'));
    if (this.isPacked(home)) await link(archiveIn(home), copy);
    else await packInto(copy, home, signal);
    return copy;
  }

  /** Makes a copy the archive of a home without files. The copy is moved, and must be on the disk. */
  async place(home: string, copy: string): Promise<void> {
    await rename(copy, archiveIn(home));
    for (const directory of [home, dirname(home)]) await flush(directory);
  }

  /** Deletes the files, packed or not. */
  async remove(home: string): Promise<void> {
    await removeTree(workspaceIn(home));
    for (const name of await leftoversIn(home)) await removeTree(join(home, name));
  }

  private async write(home: string, signal: AbortSignal): Promise<void> {
    const draft = join(home, newName('draft'));
    await packInto(draft, home, signal);
    await rename(draft, archiveIn(home));
    await flush(home);
  }

  /** The workspace is whole, or there is none: what lies beside it is of no use any more. */
  private async settle(home: string): Promise<void> {
    if (existsSync(workspaceIn(home))) await rm(archiveIn(home), { force: true });
    await this.removeLeftovers(home);
  }

  /** What cannot be deleted now is tried again the next time, and keeps nothing from working until then. */
  private async removeLeftovers(home: string): Promise<void> {
    for (const name of await leftoversIn(home)) await removeTree(join(home, name)).catch(() => undefined);
  }
}

const archiveIn = (home: string): string => join(home, 'archive.tar.gz');
const workspaceIn = (home: string): string => join(home, 'workspace');
const imageIn = (home: string): string => join(home, 'workspace.img');

const leftover = /^(leaving|restoring|draft)-/;
const copied = /^copy-/;
const newName = (kind: 'leaving' | 'restoring' | 'draft' | 'copy'): string => `${kind}-${randomUUID()}`;
const namesIn = async (home: string, pattern: RegExp): Promise<string[]> =>
  (await readdir(home).catch(() => [])).filter((name) => pattern.test(name)); // a home that was never made has none
const leftoversIn = (home: string): Promise<string[]> => namesIn(home, leftover);

/**
 * Files are compared one by one, because not every tree that commands can make comes out of an archive: its paths may be
 * too long. An image is one file whose holes would be compared too, all of its size; there, gzip's checksum has to do.
 */
async function packInto(draft: string, home: string, signal: AbortSignal): Promise<void> {
  const isImage = existsSync(imageIn(home));
  const names = ['workspace', ...(isImage ? ['workspace.img'] : [])];
  const from = ['--file', draft, '--directory', home];
  try {
    const pack = ['--create', ...format, ...exactTimes, '--use-compress-program', 'gzip -1', ...from, '--', ...names];
    await run('nice', ['tar', ...pack], signal);
    await run('nice', ['tar', isImage ? '--list' : '--compare', ...format, '--gzip', ...from], signal);
    await flush(draft);
    signal.throwIfAborted();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function run(program: string, given: readonly string[], signal?: AbortSignal): Promise<void> {
  const options = { env: { PATH: searchPath, LANG: 'C.UTF-8' }, maxBuffer: errorBytes, killSignal: 'SIGKILL' as const };
  try {
    await execute(program, given, { ...options, ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    const { stderr, stdout } = error as { stderr?: string; stdout?: string }; // what execFile rejects with
    const [said = ''] = (stderr || stdout || String(error)).split('\n'); // a path may be longer than what is wrong with it
    throw new Error(`${given[0] === 'tar' ? 'tar' : program}: ${said.slice(-shownError)}`, { cause: error });
  }
}
