import { z } from 'zod';

/** Whose copy of which workspace. Each executor has its own: one that was away cannot replace what another has saved since. */
export interface SnapshotKey {
  readonly threadId: string;
  readonly executorId: string;
}

const label = z.string().max(200).exactOptional();

export const snapshotInfo = z.object({
  /** The files are as they were then. */
  takenAt: z.iso.datetime(),
  bytes: z.number().int().nonnegative(),
  /** Hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Those of the sandbox. */
  labels: z.object({ install: label, account: label, thread: label, run: label, epoch: label }),
});
export type SnapshotInfo = z.infer<typeof snapshotInfo>;

/**
 * Copies of workspaces, each one packed file, outside of the executors. Every implementation passes the same tests,
 * `describeSnapshotStore` in testing/snapshot-store.contract.ts. Rejects where the store does not answer as it should;
 * repeating is always safe.
 */
export interface SnapshotStore {
  /** Which store it is, without secrets. */
  readonly name: string;
  /** Replaces the copy before at once: a reader finds one of the two, whole. */
  save(key: SnapshotKey, copy: SavedFile): Promise<void>;
  /** Writes the copy into a new file. Undefined where there is none. One that is not whole rejects with `SnapshotDamaged`. */
  fetch(key: SnapshotKey, into: string): Promise<SnapshotInfo | undefined>;
  /** Removes an executor's copy, or without one the copies of all executors. */
  remove(threadId: string, executorId?: string): Promise<void>;
}

export interface SavedFile {
  readonly file: string;
  readonly info: SnapshotInfo;
  /** Gives up. */
  readonly signal?: AbortSignal;
}

/** What is stored is not what was saved. */
export class SnapshotDamaged extends Error {
  override readonly name = 'SnapshotDamaged';
}
