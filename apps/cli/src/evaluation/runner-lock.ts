import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../command';

/** Runs the work while no other runner of this machine writes the file. The lock of a dead process is taken over. */
export async function whileLocked<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${path}.lock`;
  mkdirSync(dirname(lock), { recursive: true });
  if (!take(lock)) {
    const holder = Number(readFileSync(lock, 'utf8'));
    if (isAlive(holder))
      throw new UsageError(`Process ${holder} runs this evaluation. If it does not, delete ${lock}.`);
    rmSync(lock, { force: true });
    if (!take(lock)) throw new UsageError(`Another process has just begun this evaluation: ${lock}`);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it lives, and belongs to another user
  }
}
