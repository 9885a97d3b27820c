import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const attempt = `truncate -s 4M "$1/image" && mkfs.ext4 -q -F "$1/image" && mkdir "$1/disk" &&
  exec unshare --mount --propagation private mount -o loop "$1/image" "$1/disk"`;

/** Whether this machine can mount a file as a disk, tried without the code under test. */
export function canMountFiles(): boolean {
  if (process.getuid?.() !== 0) return false;
  const directory = mkdtempSync(join(tmpdir(), 'loop-spec-'));
  const { status } = spawnSync('sh', ['-c', attempt, 'sh', directory], { stdio: 'ignore' });
  rmSync(directory, { recursive: true });
  return status === 0;
}

/** The loop devices of this machine whose file is this one, deleted or not. */
export function listLoopDevices(file: string): string[] {
  const lines = execFileSync('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE'], { encoding: 'utf8' });
  return lines.split('\n').filter((line) => line.includes(file));
}

/** The bytes of the host's disk that a directory uses. */
export const bytesIn = (directory: string): number =>
  Number(execFileSync('du', ['-s', '-B', '1', '--', directory], { encoding: 'utf8' }).split('\t')[0]);

export const filesIn = (directory: string): number =>
  Number(execFileSync('du', ['-s', '--inodes', '--', directory], { encoding: 'utf8' }).split('\t')[0]);

/** Waits until the kernel has removed them, a moment after the last process of a sandbox. Throws when it does not. */
export async function loopDevicesAreGone(file: string): Promise<void> {
  for (const until = Date.now() + 5_000; listLoopDevices(file).length > 0; await delay(5)) {
    if (Date.now() > until) throw new Error(`still in use: ${listLoopDevices(file).join()}`);
  }
}
