import { execFile } from 'node:child_process';
import { mkdir, open, readdir, rename, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { processIsAlive } from '../processes/process-liveness';
import { SandboxError } from '../../provider/sandbox-error';
import type { SandboxSettings } from '../../provider/sandbox-settings';
import { searchPath } from '../../provider/program-path';
import { filesInMemory, type Usage } from './workspace-usage';
import { toMessage } from '@rondo/platform';

/**
 * A shell line that mounts the image "$1" at the directory "$2", to be run in a mount namespace of its own: when the last
 * process in it ends, for whatever reason, the kernel removes the mount and its loop device. Blocks of deleted files are
 * returned to the host here, because the mount option `discard` makes deleting many files ten times slower.
 */
export const mountImage = 'mount -t ext4 -o loop,nosuid,nodev "$1" "$2" && { fstrim "$2" || true; }';
export const withOwnMounts = ['unshare', '--mount', '--propagation', 'private'] as const;

const blockBytes = 4096;
const blocksPerGroup = 32_768;
/** mke2fs rounds up by less than this in each group of blocks. */
const roundedInodes = 16;
/** The field of the superblock that records a clean unmount, and its value for that. */
const state = { at: 1024 + 58, clean: 1 };
const detachWithinMs = 10_000;
const repaired = 1;
const probePrefix = '.probe-';

const execute = promisify(execFile);
const run = (program: string, ...given: string[]) => execute(program, given, { env: { PATH: searchPath } });

/**
 * Workspaces that are file systems in a file, whose size the kernel enforces. The host never reads their contents: an image
 * is mounted only in the namespace of its sandbox.
 */
export class WorkspaceImages {
  /** Whether new workspaces become images. */
  enabled = false;

  constructor(private readonly settings: Pick<SandboxSettings, 'diskBytes' | 'files' | 'hardDisk' | 'unsafeHost'>) {}

  /** Tries whether images can be mounted here. Resolves to the reason why not. */
  async probe(root: string): Promise<string | undefined> {
    const why = this.settings.hardDisk === 'off' ? 'SANDBOX_DISK_HARD=off.' : await this.tryOut(root);
    this.enabled = why === undefined;
    return why;
  }

  /** Creates an empty image atomically. */
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

  /** Must be awaited before a mount: two mounts of one image would destroy it. Repairs what a power cut has left. */
  async prepare(image: string): Promise<void> {
    await this.waitUntilDetached(image);
    if (await isClean(image)) return;
    await run('e2fsck', '-f', '-y', image).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== repaired) throw error; // Node's own error carries the exit code.
    });
  }

  /** Makes a user the owner of everything in it. */
  async chown(image: string, { directory, uid }: { directory: string; uid: number }): Promise<void> {
    await this.prepare(image);
    await inOwnMounts(`${mountImage} && exec chown -R -P -h -- "$3:$3" "$2"`, [image, directory, String(uid)]);
  }

  /** Resolves when no loop device uses it any more: the kernel detaches it a moment after a sandbox was killed. */
  async waitUntilDetached(image: string): Promise<void> {
    const until = performance.now() + detachWithinMs;
    while ((await run('losetup', '-j', image)).stdout !== '') {
      if (performance.now() > until) throw new SandboxError('unavailable', 'The disk of the sandbox is still in use.');
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
      await removeLeftovers(root);
      await mkdir(directory, { recursive: true });
      await this.create(image, 0);
      await inOwnMounts(`${mountImage} && exec touch "$2/file"`, [image, directory]);
      await this.waitUntilDetached(image);
      return undefined;
    } catch (error) {
      return toMessage(error);
    } finally {
      for (const path of [image, `${image}.draft`, directory]) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Deletes the files of executors that were killed during a trial. */
async function removeLeftovers(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const isLeft = name.startsWith(probePrefix) && !processIsAlive(Number.parseInt(name.slice(probePrefix.length), 10));
    if (isLeft) await rm(join(root, name), { recursive: true, force: true });
  }
}

/** Measured through the agent's view, the only one with the image mounted. Nothing is written while the sandbox sleeps. */
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
