import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { groupsInside } from '../host/processes/grouped-owners';
import { processIsAlive } from '../host/processes/process-liveness';
import type { SandboxSettings } from '../provider/sandbox-settings';

export type ControlGroupLimits = Pick<SandboxSettings, 'memoryBytes' | 'processes' | 'cpu'>;

/** The kernel's limits for one sandbox. */
export interface ControlGroup {
  /** A process joins by writing its id into each of these. */
  processFiles: readonly string[];
  /** The directory in which each run gets a group of its own. Missing without control groups. */
  forRuns?: string;
  /** How often the kernel has killed for memory in this group. Still known after the group was removed. */
  outOfMemoryKills(): number;
  remove(): Promise<void>;
}

export interface ControlGroups {
  version: 'v1' | 'v2' | 'none';
  memory: boolean;
  processes: boolean;
  cpu: boolean;
  create(limits: ControlGroupLimits): ControlGroup;
}

/** One directory of the control group file system with the files to write once a group is made in it. */
interface Hierarchy {
  directory: string;
  limits(limits: ControlGroupLimits): Record<string, string>;
  /** Its groups limit those inside them too, on every kernel. */
  nests?: true;
  optional: readonly string[];
}

const cpuPeriodMicroseconds = 100_000;
/** The agent's own threads and bubblewrap's processes, which do not count against the limit of commands. */
const ownProcesses = 24;
const toQuota = (cpu: number) => String(Math.round(cpu * cpuPeriodMicroseconds));
const processLimit = ({ processes }: ControlGroupLimits) => String(processes + ownProcesses);
const groupName = /^rondo-(\d+)-/;

/** Finds the control groups that this process may use: delegated v2, else v1 controllers, else none. Decided by trying. */
export function detectControlGroups(mount = '/sys/fs/cgroup', self = '/proc/self/cgroup'): ControlGroups {
  return findDelegatedV2(mount, self) ?? writableV1(mount) ?? noControlGroups;
}

export const noControlGroups: ControlGroups = {
  version: 'none',
  memory: false,
  processes: false,
  cpu: false,
  create: () => ({ processFiles: [], outOfMemoryKills: () => 0, remove: async () => {} }),
};

/** v2 forbids groups with both processes and limited children, so new groups are siblings of this process's own group. */
function findDelegatedV2(mount: string, self: string): ControlGroups | undefined {
  if (!existsSync(join(mount, 'cgroup.controllers')) || !existsSync(self)) return undefined;
  const own = /^0::(.*)$/m.exec(readFileSync(self, 'utf8'))?.[1];
  if (own === undefined) return undefined;

  for (let path = own; ; path = dirname(path)) {
    const directory = join(mount, path);
    const controllers = readWords(join(directory, 'cgroup.subtree_control'));
    const hierarchy: Hierarchy = {
      directory,
      limits: (limits) => ({
        'memory.max': String(limits.memoryBytes),
        'memory.swap.max': '0',
        'pids.max': processLimit(limits),
        'cpu.max': `${toQuota(limits.cpu)} ${cpuPeriodMicroseconds}`,
      }),
      nests: true,
      optional: ['memory.swap.max', ...(controllers.includes('cpu') ? [] : ['cpu.max'])],
    };
    if (controllers.includes('memory') && controllers.includes('pids') && works([hierarchy])) {
      return groupsIn('v2', [hierarchy], { cpu: controllers.includes('cpu') });
    }
    if (path === '/' || path === '.') return undefined;
  }
}

function writableV1(mount: string): ControlGroups | undefined {
  const memory: Hierarchy = {
    directory: join(mount, 'memory'),
    limits: ({ memoryBytes }) => ({
      'memory.limit_in_bytes': String(memoryBytes),
      'memory.memsw.limit_in_bytes': String(memoryBytes),
    }),
    optional: ['memory.memsw.limit_in_bytes'],
  };
  const processes: Hierarchy = {
    directory: join(mount, 'pids'),
    limits: (limits) => ({ 'pids.max': processLimit(limits) }),
    optional: [],
    nests: true,
  };
  const cpu: Hierarchy = {
    directory: join(mount, 'cpu'),
    limits: (limits) => ({
      'cpu.cfs_period_us': String(cpuPeriodMicroseconds),
      'cpu.cfs_quota_us': toQuota(limits.cpu),
    }),
    optional: [],
  };
  if (!works([memory, processes])) return undefined;
  const cpuWorks = works([cpu]);
  return groupsIn('v1', cpuWorks ? [memory, processes, cpu] : [memory, processes], { cpu: cpuWorks });
}

function groupsIn(version: 'v1' | 'v2', hierarchies: readonly Hierarchy[], { cpu }: { cpu: boolean }): ControlGroups {
  for (const { directory } of hierarchies) removeLeftovers(directory);
  return {
    version,
    memory: true,
    processes: true,
    cpu,
    create: (limits) => createGroup(hierarchies, limits),
  };
}

function works(hierarchies: readonly Hierarchy[]): boolean {
  try {
    const trial = { memoryBytes: 2 ** 30, processes: 64, cpu: 1 };
    const { processFiles } = createGroup(hierarchies, trial);
    const joined = processFiles.every((file) => spawnSync('sh', ['-c', 'echo $$ >"$1"', 'sh', file]).status === 0);
    for (const file of processFiles) rmdirSync(dirname(file));
    return joined;
  } catch {
    return false; // Not mounted, read-only or not delegated: the next kind is tried.
  }
}

function createGroup(hierarchies: readonly Hierarchy[], limits: ControlGroupLimits): ControlGroup {
  const name = `rondo-${process.pid}-${randomBytes(6).toString('hex')}`;
  const directories: string[] = [];
  try {
    for (const hierarchy of hierarchies) {
      const directory = join(hierarchy.directory, name);
      mkdirSync(directory, { recursive: false });
      directories.push(directory);
      for (const [file, value] of Object.entries(hierarchy.limits(limits))) {
        writeLimit(join(directory, file), value, hierarchy.optional.includes(file));
      }
    }
  } catch (error) {
    for (const directory of directories) rmdirSync(directory); // it has no processes yet
    throw error;
  }
  let kills = 0;
  const countKills = () => (kills = Math.max(kills, outOfMemoryKills(directories)));
  const forRuns = directories[hierarchies.findIndex(({ nests }) => nests)];
  return {
    processFiles: directories.map((directory) => join(directory, 'cgroup.procs')),
    ...(forRuns !== undefined && { forRuns }),
    outOfMemoryKills: countKills,
    remove: async () => {
      countKills();
      for (const directory of directories) await removeGroup(directory);
    },
  };
}

function writeLimit(file: string, value: string, optional: boolean): void {
  if (optional && !existsSync(file)) return;
  try {
    writeFileSync(file, value);
  } catch (error) {
    if (!optional) throw error;
  }
}

function outOfMemoryKills(directories: readonly string[]): number {
  const files = directories.flatMap((directory) =>
    ['memory.events', 'memory.oom_control'].map((f) => join(directory, f)),
  );
  const text = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'));
  return Number(/^oom_kill (\d+)$/m.exec(text.join('\n'))?.[1] ?? 0);
}

/** Its processes are dead by now, but the kernel may release them a moment later. */
async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      removeWithGroupsIn(directory);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // Node's own file system errors carry a code.
      await delay(10);
    }
  }
}

function removeWithGroupsIn(directory: string): void {
  for (const inner of groupsInside(directory)) rmdirSync(inner);
  rmdirSync(directory);
}

/** Removes the groups of executors that were killed; their sandboxes died with them. */
function removeLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    const owner = groupName.exec(name)?.[1];
    if (owner === undefined || processIsAlive(Number(owner))) continue;
    try {
      removeWithGroupsIn(join(directory, name));
    } catch {
      continue; // Still being emptied; the next start finds it.
    }
  }
}

function readWords(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s+/) : [];
}
