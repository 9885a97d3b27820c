import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether a process exists, under any user. */
export function processIsAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // Node's own system errors carry a code.
  }
}

/** A zombie counts as dead: it only waits for its parent to reap it. */
function isRunning(pid: number): boolean {
  if (process.platform !== 'linux') return processIsAlive(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** True when the process is verified dead before the timeout. */
export async function diesWithin(pid: number, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  while (isRunning(pid)) {
    if (performance.now() > until) return false;
    await delay(2);
  }
  return true;
}
