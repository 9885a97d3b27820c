import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { flush } from '../provider/flush';
import { requireThreadId } from '../provider/thread-ids';
import { writeChecked } from './checksums';
import {
  type SavedFile,
  SnapshotDamaged,
  type SnapshotInfo,
  type SnapshotKey,
  type SnapshotStore,
  snapshotInfo,
} from './snapshot-store';

/** Of the first line of a copy. It is short, so a file without one within these bytes is none. */
const headBytes = 4_096;
const suffix = '.copy';

/**
 * Copies in a directory that all executors share: `<thread>/<executor>.copy`. The first line says what the copy is, in JSON; the
 * packed files follow, so that one rename replaces both. An executor writes only files of its own name.
 */
export class FolderSnapshots implements SnapshotStore {
  readonly name: string;

  /** The directory has to exist: one that is created where a volume is not mounted would lose every copy. */
  constructor(private readonly root: string) {
    this.name = `file://${root}`;
  }

  async save(key: SnapshotKey, saved: SavedFile): Promise<void> {
    await this.requireRoot();
    const folder = this.toFolder(key.threadId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeDrafts(folder, key);
    const draft = join(folder, `${key.executorId}.${randomUUID()}.draft`);
    try {
      await writeCopy(draft, saved);
      saved.signal?.throwIfAborted();
      await rename(draft, join(folder, fileName(key)));
    } finally {
      await rm(draft, { force: true });
    }
    for (const directory of [folder, this.root]) await flush(directory);
  }

  async fetch(key: SnapshotKey, into: string): Promise<SnapshotInfo | undefined> {
    await this.requireRoot();
    const file = await open(join(this.toFolder(key.threadId), fileName(key))).catch(unlessMissing);
    if (!file) return undefined;
    const { info, start } = await readHead(file).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    await writeChecked(file.createReadStream({ start }), into, info); // closes the file
    return info;
  }

  async remove(threadId: string, executorId?: string): Promise<void> {
    await this.requireRoot();
    const folder = this.toFolder(threadId);
    if (executorId === undefined) return rm(folder, { recursive: true, force: true });
    await rm(join(folder, fileName({ threadId, executorId })), { force: true });
    await removeDrafts(folder, { threadId, executorId });
    await rmdir(folder).catch(() => undefined); // another executor's copy is in it, or it never was
  }

  /** A volume that is away is not a copy that is missing. */
  private async requireRoot(): Promise<void> {
    await (await open(this.root)).close();
  }

  private toFolder(threadId: string): string {
    requireThreadId(threadId);
    return join(this.root, threadId);
  }
}

const fileName = ({ executorId }: SnapshotKey): string => `${executorId}${suffix}`;

/** What an executor that was killed has left. Executor ids contain no dot. */
async function removeDrafts(folder: string, { executorId }: SnapshotKey): Promise<void> {
  const names = (await readdir(folder).catch(unlessMissing)) ?? [];
  const left = names.filter((name) => name.startsWith(`${executorId}.`) && name.endsWith('.draft'));
  for (const name of left) await rm(join(folder, name), { force: true });
}

async function writeCopy(draft: string, { file, info, signal }: SavedFile): Promise<void> {
  await writeFile(draft, `${JSON.stringify(info)}\n`, { flag: 'wx', mode: 0o600 });
  await pipeline(createReadStream(file), createWriteStream(draft, { flags: 'a' }), { ...(signal && { signal }) });
  await flush(draft);
}

async function readHead(file: FileHandle): Promise<{ info: SnapshotInfo; start: number }> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  const end = buffer.subarray(0, bytesRead).indexOf('\n');
  try {
    const info = snapshotInfo.parse(JSON.parse(buffer.toString('utf8', 0, Math.max(end, 0))));
    return { info, start: end + 1 };
  } catch (error) {
    throw new SnapshotDamaged('What is known of the copy cannot be read.', { cause: error });
  }
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // Node's own file system errors carry a code.
  return undefined;
}
