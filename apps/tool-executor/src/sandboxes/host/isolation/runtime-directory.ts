import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { processIsAlive } from '../processes/process-liveness';

const prefix = 'rondo-sandboxes-';
const leftover = new RegExp(`^${prefix}(\\d+)-`);

/** Files that sandboxes need while this process runs: copies that any user can read, wherever this program is installed. */
export interface RuntimeDirectory {
  path: string;
  agent: string;
  systemFiles: string;
  seccompFilter?: string;
  /** The program, or a copy of it when the users of sandboxes cannot reach it. */
  makeReachable(program: string): Promise<string>;
  remove: () => Promise<void>;
}

export async function createRuntimeDirectory(seccompFilter: Buffer | undefined): Promise<RuntimeDirectory> {
  await removeLeftovers();
  const path = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    const makeReachable = (program: string) => reachable(program, path);
    return { path, ...(await fill(path, seccompFilter)), makeReachable, remove };
  } catch (error) {
    await remove(); // Other executors delete it only after this process has ended.
    throw error;
  }
}

async function fill(path: string, seccompFilter: Buffer | undefined) {
  const agent = join(path, 'agent');
  const systemFiles = join(path, 'etc');
  await cp(join(__dirname, '../agent/in-sandbox'), agent, { recursive: true });
  await cp(join(__dirname, '../../provider/in-sandbox'), agent, { recursive: true });
  await cp(join(__dirname, 'etc'), systemFiles, { recursive: true });
  await Promise.all([path, agent, systemFiles].map((directory) => chmod(directory, 0o755)));
  for (const directory of [agent, systemFiles]) {
    for (const name of await readdir(directory)) await chmod(join(directory, name), 0o644);
  }
  if (!seccompFilter) return { agent, systemFiles };

  const filterFile = join(path, 'seccomp.bpf');
  await writeFile(filterFile, seccompFilter);
  return { agent, systemFiles, seccompFilter: filterFile };
}

async function reachable(program: string, directory: string): Promise<string> {
  if (!isAbsolute(program) || !existsSync(program) || isReachableByAnyone(program)) return program;
  const copy = join(directory, basename(program));
  await cp(program, copy);
  await chmod(copy, 0o755);
  return copy;
}

/** Deletes the directories of executors that were killed. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = leftover.exec(name)?.[1];
    if (owner !== undefined && !processIsAlive(Number(owner))) {
      await rm(join(tmpdir(), name), { recursive: true, force: true });
    }
  }
}

/** Whether every user may enter the directories of this path, as the user of a sandbox must. /root, for one, is closed. */
export function isReachableByAnyone(path: string): boolean {
  for (let directory = dirname(resolve(path)); ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}

/**
 * Bind mounts for paths inside directories that the user of a sandbox may not enter (a checkout under /root, a private data
 * directory). They are made before root privileges are dropped, and only in the mount namespace of this sandbox.
 */
export class BindMounts {
  /** Each directory or file, followed by its mount point. */
  readonly pairs: string[] = [];

  constructor(
    private readonly runtime: RuntimeDirectory,
    private readonly uid: number | undefined,
  ) {}

  to(path: string): string {
    if (this.uid === undefined || isReachableByAnyone(path)) return path;
    const isDirectory = statSync(path).isDirectory();
    const mountPoint = join(this.runtime.path, `mount-${this.pairs.length / 2}${isDirectory ? '' : '-file'}`);
    if (isDirectory) mkdirSync(mountPoint, { recursive: true });
    else writeFileSync(mountPoint, '', { flag: 'a' });
    this.pairs.push(path, mountPoint);
    return mountPoint;
  }
}
