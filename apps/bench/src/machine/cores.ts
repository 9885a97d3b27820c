import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * One core for what is measured, another one for what drives it, so that neither takes time from the other. A process
 * inherits the core of the one that starts it, and that is all this relies on.
 */
export class Cores {
  private constructor(
    readonly system: number,
    readonly load: number,
  ) {}

  /** Undefined where processes cannot be pinned, or where there is only one core. */
  static find(): Cores | undefined {
    try {
      execFileSync('taskset', ['--version'], { stdio: 'ignore' });
      const [load, system] = allowedCores();
      return load === undefined || system === undefined ? undefined : new Cores(system, load);
    } catch {
      return undefined; // no taskset, or no /proc: not Linux
    }
  }

  /** What `work` starts runs on the system's core, from its first instruction on. */
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

/** `0-1,4` in the kernel's words. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
