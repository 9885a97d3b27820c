import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/**
 * One core for the measured system and another for the load, so that neither takes time from the other. Relies on
 * processes inheriting the core of their parent.
 */
export class Cores {
  private constructor(
    readonly system: number,
    readonly load: number,
  ) {}

  /** Undefined if processes cannot be pinned or there is only one core. */
  static find(): Cores | undefined {
    try {
      execFileSync('taskset', ['--version'], { stdio: 'ignore' });
      const [load, system] = listAllowedCores();
      return load === undefined || system === undefined ? undefined : new Cores(system, load);
    } catch {
      return undefined; // no taskset, or no /proc: not Linux
    }
  }

  /** Processes that `work` starts run on the system's core from their first instruction. */
  async onSystemCore<T>(work: () => Promise<T>): Promise<T> {
    this.moveTo(this.system);
    try {
      return await work();
    } finally {
      this.moveTo(this.load);
    }
  }

  private moveTo(core: number): void {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(process.pid)], {
      stdio: 'ignore',
    });
  }
}

/** Parses the kernel's list of cores, such as `0-1,4`. */
function listAllowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** A description of this machine for the report. */
export const machine =
  `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ` +
  `${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
