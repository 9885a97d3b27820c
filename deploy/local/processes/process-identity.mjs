import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** The start time of a process, which tells it apart from a later process with the same id. */
export function startTime(pid) {
  try {
    if (!existsSync('/proc/self/stat'))
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)])
        .toString()
        .trim();
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    const [state, startTicks] = [afterName[0], afterName[19]];
    return state === 'Z' ? undefined : startTicks;
  } catch {
    return undefined; // no such process
  }
}

export function writePidFile(file, pid, details = {}) {
  writeFileSync(file, JSON.stringify({ pid, startTime: startTime(pid), ...details }));
}

/** The process that this file names, if it is alive. */
export function readPidFile(file) {
  try {
    const process = JSON.parse(readFileSync(file, 'utf8'));
    return isAlive(process) ? process : undefined;
  } catch {
    return undefined; // no file, or an incomplete one from a process that was killed
  }
}

export function removePidFile(file) {
  rmSync(file, { force: true });
}

export function isAlive({ pid, startTime: since }) {
  return since !== undefined && startTime(pid) === since;
}
