import { readFileSync } from 'node:fs';

const bootIdFile = '/proc/sys/kernel/random/boot_id';

/**
 * Tells one life of a process id from the next: the boot and the moment at which it began. Undefined when no such
 * process lives. Where the system does not say when, only that it lives.
 */
export function startOfProcess(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined; // Node's own system errors carry a code.
  }
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return 'alive';
  // The name in parentheses may hold anything. Of the fields after it, the first is the state and the 20th the start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : `${read(bootIdFile)?.trim() ?? ''} ${fields[19]}`;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
