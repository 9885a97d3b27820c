import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HostProcess, readProcess } from './process-table';
import type { ProcessOwners } from './run-processes';

/**
 * A control group per run, inside the sandbox's own group: the agent moves into it, and its new processes start there. A new
 * session, another parent or an empty environment do not leave the group. Moving takes about 10 ms, once per run.
 */
export class GroupedOwners implements ProcessOwners {
  private readonly groups = new Map<string, string>();
  private readonly killed = new Set<string>();
  private last = 0;

  constructor(
    /** The sandbox's group in the hierarchy that has the groups of runs. */
    private readonly directory: string,
    private readonly agent: number,
  ) {}

  async enter(run: string): Promise<void> {
    const known = this.killed.delete(run) ? undefined : this.groups.get(run);
    const group = known ?? this.make(run);
    await this.moveAgent(group);
    this.removeEmpty(group);
  }

  of(run: string): HostProcess[] {
    const group = this.groups.get(run);
    if (group === undefined) return [];
    const pids = readPids(join(group, 'cgroup.procs')).filter((pid) => pid !== this.agent);
    return pids.map(readProcess).filter((found) => found !== undefined);
  }

  /** The agent leaves, then nothing in there can fork any more (v1), or everything is killed at once (v2). */
  async preventForks(run: string): Promise<void> {
    const group = this.groups.get(run);
    if (group === undefined) return;
    this.killed.add(run);
    if (readPids(join(group, 'cgroup.procs')).includes(this.agent)) await this.moveAgent(this.directory);
    if (existsSync(join(group, 'pids.max'))) await writeFile(join(group, 'pids.max'), '0');
    if (existsSync(join(group, 'cgroup.kill'))) await writeFile(join(group, 'cgroup.kill'), '1');
  }

  allowForks(): Promise<void> {
    return Promise.resolve();
  }

  private make(run: string): string {
    const group = join(this.directory, `run-${(this.last += 1)}`);
    mkdirSync(group);
    this.groups.set(run, group);
    return group;
  }

  private moveAgent(group: string): Promise<void> {
    return writeFile(join(group, 'cgroup.procs'), String(this.agent));
  }

  /** Removes the groups of runs that have left no process. */
  private removeEmpty(present: string): void {
    for (const [run, group] of this.groups) {
      if (group === present || readPids(join(group, 'cgroup.procs')).length > 0) continue;
      try {
        rmdirSync(group);
        this.groups.delete(run);
      } catch {
        continue; // A zombie is still in it. The next run tries again.
      }
    }
  }
}

function readPids(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return []; // The sandbox is gone, and its groups with it.
  }
}

/** The groups inside a group. */
export const groupsInside = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(directory, name));
