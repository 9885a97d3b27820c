import { execFile } from 'node:child_process';
import { mkdir, open, readdir, rename, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { processIsAlive } from '../commands/process-liveness';
import { SandboxError } from '../../sandbox-error';
import type { SandboxSettings } from '../../sandbox-settings';
import { searchPath } from '../isolation/search-path';
import { filesInMemory, type Usage } from './workspace-usage';

/**
 * A shell line that mounts the image "$1" at the directory "$2". To be run in a mount namespace of its own: when the last
 * process in there is gone, however it ended, the kernel takes the mount and its loop device away. What was deleted in the
 * image is given back to the host here, since doing so at each deletion makes deleting many files ten times slower.
 */
export const mountImage = 'mount -t ext4 -o loop,nosuid,nodev "$1" "$2" && { fstrim "$2" || true; }';
export const withOwnMounts = ['unshare', '--mount', '--propagation', 'private'] as const;

const blockBytes = 4096;
const blocksPerGroup = 32_768;
/** mke2fs rounds up by less than this in each group of blocks. */
const roundedInodes = 16;
/** Where the superblock says whether the file system was unmounted, and the value that says so. */
const state = { at: 1024 + 58, clean: 1 };
const detachWithinMs = 10_000;
const repaired = 1;
const probePrefix = '.probe-';

const execute = promisify(execFile);
const run = (program: string, ...given: string[]) => execute(program, given, { env: { PATH: searchPath } });

/**
 * Workspaces that are file systems in a file: the kernel stops what would exceed their size. Nothing out here looks into
 * one; it is mounted only within the namespace of its sandbox.
 */
export class WorkspaceImages {
  /** Whether new workspaces become images. */
  areMade = false;

  constructor(private readonly settings: Pick<SandboxSettings, 'diskBytes' | 'files' | 'hardDisk' | 'unsafeHost'>) {}

  /** Finds out by mounting one whether images can be had. Resolves to why not. */
  async probe(root: string): Promise<string | undefined> {
    const why = this.settings.hardDisk === 'off' ? 'SANDBOX_DISK_HARD=off.' : await this.tryOut(root);
    this.areMade = why === undefined;
    return why;
  }

  /** An empty one, which is there as a whole or not at all. */
  async create(image: string, uid: number): Promise<void> {
    const { diskBytes, files } = this.settings;
    const blocks = Math.floor(diskBytes / blockBytes);
    const inodes = Math.min(files, blocks) - roundedInodes * Math.ceil(blocks / blocksPerGroup);
    const draft = `${image}.draft`;
    await rm(draft, { force: true });
    await writeFile(draft, '', { mode: 0o600 });
    await truncate(draft, blocks * blockBytes);
    const shape = ['-b', String(blockBytes), '-I', '256', '-N', String(Math.max(inodes, roundedInodes)), '-m', '0'];
    const features = ['-O', '^has_journal,^resize_inode', '-E', `root_owner=${uid}:${uid}`];
    await run('mkfs.ext4', '-q', '-F', ...shape, ...features, draft);
    await run('debugfs', '-w', '-R', 'rmdir lost+found', draft);
    await rename(draft, image);
  }

  /** To be awaited before it is mounted: two mounts of one image would destroy it. Mends what a power cut has left. */
  async prepare(image: string): Promise<void> {
    await this.detached(image);
    if (await isClean(image)) return;
    await run('e2fsck', '-f', '-y', image).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== repaired) throw error; // Node's own error carries the exit code.
    });
  }

  /** Makes everything in it a user's own. */
  async chown(image: string, { directory, uid }: { directory: string; uid: number }): Promise<void> {
    await this.prepare(image);
    await inOwnMounts(`${mountImage} && exec chown -R -P -h -- "$3:$3" "$2"`, [image, directory, String(uid)]);
  }

  /** Resolves when no loop device holds it any more: a sandbox that was killed lets go of it a moment later. */
  private async detached(image: string): Promise<void> {
    const until = Date.now() + detachWithinMs;
    while ((await run('losetup', '-j', image)).stdout !== '') {
      if (Date.now() > until) throw new SandboxError('unavailable', 'The disk of the sandbox is still in use.');
      await delay(5);
    }
  }

  private async tryOut(root: string): Promise<string | undefined> {
    if (process.getuid?.() !== 0) return 'Only root can mount disks.';
    if (this.settings.unsafeHost) return 'Without isolation nothing is mounted.';
    const image = join(root, `${probePrefix}${process.pid}`);
    const directory = `${image}.mount`;
    try {
      await mkdir(root, { recursive: true, mode: 0o711 });
      await removeLeftOvers(root);
      await mkdir(directory, { recursive: true });
      await this.create(image, 0);
      await inOwnMounts(`${mountImage} && exec touch "$2/file"`, [image, directory]);
      await this.detached(image);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      for (const path of [image, `${image}.draft`, directory]) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Those of an executor that was killed while it tried. */
async function removeLeftOvers(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const isLeft = name.startsWith(probePrefix) && !processIsAlive(Number.parseInt(name.slice(probePrefix.length), 10));
    if (isLeft) await rm(join(root, name), { recursive: true, force: true });
  }
}

/** Seen through the agent, the only one with a view of it; nothing is written while it is asleep. */
export async function imageUsage(agent: number | undefined): Promise<Usage> {
  if (agent === undefined) return { bytes: 0, files: 0 };
  const [disk, inMemory] = await Promise.all([
    statfs(`/proc/${agent}/root/workspace`).catch(() => undefined),
    filesInMemory(agent),
  ]);
  if (!disk) return { bytes: 0, files: inMemory };
  return { bytes: (disk.blocks - disk.bfree) * disk.bsize, files: disk.files - disk.ffree + inMemory };
}

const inOwnMounts = (script: string, given: string[]) => {
  const [program, ...options] = withOwnMounts;
  return run(program, ...options, 'sh', '-c', script, 'sh', ...given);
};

async function isClean(image: string): Promise<boolean> {
  const file = await open(image);
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, state.at);
    return buffer.readUInt16LE() === state.clean;
  } finally {
    await file.close();
  }
}
