import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, threadId } from '@rondo/contract';
import { z } from 'zod';
import { createFile } from '../create-file';

/** `is_empty`: it had no workspaces when it was marked, and no worker has said yet when that was. */
const marked = z.object({
  executor_id: z.string(),
  made_at: z.iso.datetime().nullable(),
  is_empty: z.literal(true).exactOptional(),
});

/** Since when the directory of workspaces is the one that it is. */
export interface DirectoryAge {
  /**
   * When it was empty, by the database's clock: what the executor has hosted before then is not in it. Null where it had workspaces
   * when it was marked, and undefined as long as no worker has said what time it is.
   */
  readonly madeAt: string | null | undefined;
  /** To be told the database's time, as it is now. Undefined where a worker of an older version does not say it. */
  learnTime(now: string | undefined): Promise<void>;
}

/** Several executors may use one directory where no copies are made. */
export const sharedDirectory: DirectoryAge = { madeAt: null, learnTime: () => Promise.resolve() };

/**
 * Makes the directory of workspaces this executor's, for good. One that several executors use is safe only while nothing moves:
 * each deletes the workspaces that it does not host.
 */
export async function requireOwnDirectory(root: string, executorId: string): Promise<DirectoryAge> {
  await mkdir(root, { recursive: true, mode: 0o711 });
  const file = join(root, '.executor');
  const isEmpty = !(await readdir(root)).some((name) => name === '.records' || threadId.safeParse(name).success);
  await createFile(
    file,
    JSON.stringify({ executor_id: executorId, made_at: null, ...(isEmpty && { is_empty: true }) }),
  );
  const found = marked.safeParse(readJson(await readFile(file, 'utf8')));
  if (!found.success)
    throw new Error(`${file} does not say whose SANDBOX_ROOT is: delete it if no other executor uses it.`);
  const { executor_id: owner, made_at: madeAt, is_empty: isAgeOpen } = found.data;
  if (owner === executorId) return isAgeOpen ? new NewDirectory(file, executorId) : { ...sharedDirectory, madeAt };
  throw new Error(
    `SANDBOX_ROOT (${root}) belongs to executor ${owner}, and this one is ${executorId}. ` +
      'With SANDBOX_SNAPSHOTS, each executor needs a SANDBOX_ROOT of its own, on a volume that stays with its EXECUTOR_ID_FILE.',
  );
}

/**
 * It was empty when this process found it. When that was follows from the time that a worker says, and from how long ago it is:
 * this machine's clock may be wrong, and workspaces that were here before would then count as newer than the disk.
 */
class NewDirectory implements DirectoryAge {
  madeAt: string | undefined;
  private readonly foundAt = { wall: new Date().toISOString(), steady: performance.now() };

  constructor(
    private readonly file: string,
    private readonly executorId: string,
  ) {}

  async learnTime(now: string | undefined): Promise<void> {
    if (this.madeAt !== undefined) return;
    if (now === undefined) {
      this.madeAt = this.foundAt.wall;
      return;
    }
    this.madeAt = new Date(Date.parse(now) - (performance.now() - this.foundAt.steady)).toISOString();
    const draft = `${this.file}.${randomBytes(6).toString('hex')}`;
    await writeFile(draft, JSON.stringify({ executor_id: this.executorId, made_at: this.madeAt }), { mode: 0o600 });
    await rename(draft, this.file);
  }
}
