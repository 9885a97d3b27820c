import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { processIsAlive } from '../commands/process-liveness';

const prefix = 'rondo-sandboxes-';
const leftOver = new RegExp(`^${prefix}(\\d+)-`);

/** What sandboxes need of ours while we run: copies that any user can reach, wherever this program is installed. */
export interface RuntimeDirectory {
  path: string;
  agent: string;
  systemFiles: string;
  seccompFilter?: string;
  /** The program, or a copy of it when the users of sandboxes could not get to it. */
  makeReachable(program: string): Promise<string>;
  remove: () => Promise<void>;
}

export async function createRuntimeDirectory(seccompFilter: Buffer | undefined): Promise<RuntimeDirectory> {
  await removeLeftOvers();
  const path = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    const makeReachable = (program: string) => reachable(program, path);
    return { path, ...(await fill(path, seccompFilter)), makeReachable, remove };
  } catch (error) {
    await remove(); // as long as we live, nobody else would
    throw error;
  }
}

async function fill(path: string, seccompFilter: Buffer | undefined) {
  const agent = join(path, 'agent');
  const systemFiles = join(path, 'etc');
  await cp(join(__dirname, '../agent/in-sandbox'), agent, { recursive: true });
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

/** Those of an executor that was killed. */
async function removeLeftOvers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = leftOver.exec(name)?.[1];
    if (owner !== undefined && !processIsAlive(Number(owner))) {
      await rm(join(tmpdir(), name), { recursive: true, force: true });
    }
  }
}

/** Whether every user may walk to this path, as the user of a sandbox must. Directories such as /root stand in the way. */
export function isReachableByAnyone(path: string): boolean {
  for (let directory = dirname(resolve(path)); ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}

/**
 * Ways around directories that the user of a sandbox may not walk through (a checkout under /root, a private data
 * directory): before we give up being root, the directory is shown at another place, for this sandbox alone.
 */
export class BindMounts {
  /** Each directory or file, followed by where to show it. */
  readonly pairs: string[] = [];

  constructor(
    private readonly runtime: RuntimeDirectory,
    private readonly uid: number | undefined,
  ) {}

  to(path: string): string {
    if (this.uid === undefined || isReachableByAnyone(path)) return path;
    const isDirectory = statSync(path).isDirectory();
    const shownAt = join(this.runtime.path, `detour-${this.pairs.length / 2}${isDirectory ? '' : '-file'}`);
    if (isDirectory) mkdirSync(shownAt, { recursive: true });
    else writeFileSync(shownAt, '', { flag: 'a' });
    this.pairs.push(path, shownAt);
    return shownAt;
  }
}
