import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, threadId } from '@rondo/contract';
import { z } from 'zod';
import { createFile } from '../create-file';

const marked = z.object({ executor_id: z.string(), made_at: z.iso.datetime().nullable() });

/** The directory of workspaces of one executor. */
export interface OwnDirectory {
  /** When it was empty: what the executor has hosted before then is not in it. Null where it had workspaces when it was marked. */
  readonly madeAt: string | null;
}

/**
 * Makes the directory of workspaces this executor's, for good. One that several executors use is safe only while nothing moves:
 * each deletes the workspaces that it does not host.
 */
export async function requireOwnDirectory(root: string, executorId: string): Promise<OwnDirectory> {
  await mkdir(root, { recursive: true, mode: 0o711 });
  const file = join(root, '.executor');
  const isEmpty = !(await readdir(root)).some((name) => name === '.records' || threadId.safeParse(name).success);
  const mark = { executor_id: executorId, made_at: isEmpty ? new Date().toISOString() : null };
  await createFile(file, JSON.stringify(mark));
  const found = marked.safeParse(readJson(await readFile(file, 'utf8')));
  if (!found.success)
    throw new Error(`${file} does not say whose SANDBOX_ROOT is: delete it if no other executor uses it.`);
  const { executor_id: owner, made_at: madeAt } = found.data;
  if (owner === executorId) return { madeAt };
  throw new Error(
    `SANDBOX_ROOT (${root}) belongs to executor ${owner}, and this one is ${executorId}. ` +
      'With SANDBOX_SNAPSHOTS, each executor needs a SANDBOX_ROOT of its own, on a volume that stays with its EXECUTOR_ID_FILE.',
  );
}
