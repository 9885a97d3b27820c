import { statfs } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { SandboxError } from './sandbox-error';

/** So old may a look at the disk be. */
const keptMs = 1_000;
const mebibyte = 1024 * 1024;

/** The free space of the disk that all workspaces of this machine share, and the floor below which nothing new is taken. */
export class FreeDisk {
  private looked: { readonly atMs: number; readonly bytes: Promise<number> } | undefined;

  constructor(
    private readonly root: string,
    /** 0: no floor. */
    private readonly floorBytes: number,
  ) {}

  /** What a user without privileges may still write. */
  freeBytes(): Promise<number> {
    const now = performance.now();
    if (!this.looked || now - this.looked.atMs > keptMs) this.looked = { atMs: now, bytes: lookAt(this.root) };
    return this.looked.bytes;
  }

  /** Why nothing new is taken, for people and models to read. */
  async refusal(): Promise<string | undefined> {
    if (this.floorBytes === 0) return undefined;
    const free = await this.freeBytes();
    if (free >= this.floorBytes) return undefined;
    const [left, floor] = [free, this.floorBytes].map((bytes) => Math.floor(bytes / mebibyte));
    return (
      `The disk of this executor has ${left} MiB left, less than the ${floor} MiB that stay free: commands and writes are ` +
      'refused until there is more. Reading and deleting files work.'
    );
  }

  /** Rejects with `unavailable`. */
  async require(): Promise<void> {
    const refusal = await this.refusal();
    if (refusal !== undefined) throw new SandboxError('unavailable', refusal);
  }
}

/** The directory may not exist yet. */
async function lookAt(root: string): Promise<number> {
  let directory = resolve(root);
  while (!existsSync(directory)) directory = dirname(directory);
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
