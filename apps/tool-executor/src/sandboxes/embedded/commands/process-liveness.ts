import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether a process exists, whoever owns it. */
export function processIsAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // Node's own system errors carry a code.
  }
}

/** A zombie is dead: it only waits to be counted. */
function runs(pid: number): boolean {
  if (process.platform !== 'linux') return processIsAlive(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** True when the process is seen dead in time. */
export async function diesWithin(pid: number, timeoutMs: number): Promise<boolean> {
  const until = Date.now() + timeoutMs;
  while (runs(pid)) {
    if (Date.now() > until) return false;
    await delay(2);
  }
  return true;
}
