import { randomUUID } from 'node:crypto';
import { processIsAlive } from '../processes/process-liveness';

const pattern = /^prepared-(\d{1,10})-[0-9a-f-]{36}$/;

/** Stands for a thread's id as long as the sandbox has no thread. It says which process has prepared it. */
export const newPreparedId = (): string => `prepared-${process.pid}-${randomUUID()}`;

export const isPreparedId = (id: string): boolean => pattern.test(id);

/** Of a process that is gone. To be asked before this process prepares its first: an id with its own number is an older one's. */
export function isAbandoned(id: string): boolean {
  const pid = Number(pattern.exec(id)?.[1]);
  return pid === process.pid || (pid > 0 && !processIsAlive(pid));
}
