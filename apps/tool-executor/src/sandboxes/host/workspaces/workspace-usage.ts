import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { searchPath } from '../../provider/program-path';

/** The disk usage of a sandbox. Infinite when it could not be measured in time. */
export interface Usage {
  bytes: number;
  files: number;
}

const countWithinMs = 60_000;
const kibibyte = 1024;
const blockBytes = 512;
/** The type of an in-memory file system, as Linux reports it (TMPFS_MAGIC). */
const tmpfs = 0x01021994;

/**
 * The disk usage of a directory, of deleted files that processes still have open, and the number of files, including those
 * of in-memory file systems. Deleted files that a process only has mapped are not counted.
 */
export async function workspaceUsage(directory: string, { pids, agent }: Watched): Promise<Usage> {
  const [kibibytes, files, inMemory] = await Promise.all([
    count(['-k', '--', directory]),
    count(['--inodes', '--', directory]),
    agent === undefined ? 0 : filesInMemory(agent),
  ]);
  const deleted = measureDeletedButOpen(directory, pids);
  return { bytes: kibibytes * kibibyte + deleted.bytes, files: files + inMemory + deleted.files };
}

/** What a file takes from the disk; its holes take nothing. */
export const measureAllocated = async (file: string): Promise<number> => (await stat(file)).blocks * blockBytes;

export interface Watched {
  /** The processes of the sandbox. */
  pids: readonly number[];
  agent: number | undefined;
}

/** `du` follows no links, stays on one file system, and reads nothing but metadata. */
async function count(given: readonly string[]): Promise<number> {
  const options = { stdio: ['ignore', 'pipe', 'ignore'] as ['ignore', 'pipe', 'ignore'], env: { PATH: searchPath } };
  const counting = spawn('du', ['-s', '-x', ...given], { ...options, timeout: countWithinMs, killSignal: 'SIGKILL' });
  counting.on('error', () => counting.stdout.destroy());
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    counting.once('close', (_, signal) => resolve(signal)).once('error', () => resolve(null)),
  );
  // Files that disappear meanwhile make it fail after it has counted the rest, so its exit code is ignored.
  const output = await text(counting.stdout).catch(() => '');
  if ((await ended) === 'SIGKILL') return Infinity;
  return Number(/^\d+/.exec(output)?.[0] ?? 0);
}

/**
 * The number of files in the in-memory file systems, whose sizes have limits of their own. Read through the agent's view. In a
 * container some of these directories are on the disk of the engine, whose files are not the sandbox's.
 */
export async function filesInMemory(agent: number): Promise<number> {
  const disks = ['tmp', 'dev/shm', 'run', 'run/sessions', 'rondo/sessions'].map((name) =>
    statfs(`/proc/${agent}/root/${name}`).catch(() => undefined),
  );
  const counts = (await Promise.all(disks)).map((disk) => (disk?.type === tmpfs ? disk.files - disk.ffree : 0));
  return counts.reduce((sum, files) => sum + files, 0);
}

function measureDeletedButOpen(directory: string, pids: readonly number[]): Usage {
  const device = statSync(directory, { throwIfNoEntry: false })?.dev;
  const sizes = new Map<number, number>();
  for (const pid of pids) {
    for (const descriptor of listDescriptors(pid)) {
      const status = findStat(descriptor);
      if (status?.nlink === 0 && status.dev === device) sizes.set(status.ino, status.blocks * blockBytes);
    }
  }
  return { bytes: [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0), files: sizes.size };
}

function listDescriptors(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => `/proc/${pid}/fd/${name}`);
  } catch {
    return []; // The process has ended meanwhile.
  }
}

function findStat(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
