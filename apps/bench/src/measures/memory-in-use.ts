import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesInUseFile } from '../inside/bytes-in-use';
import type { RondoSystem } from '../rondo-system';

/**
 * Has each service collect its garbage and report its memory in use: heap and external memory, in MB by name. The
 * services must have been started with `inside/collect-garbage`.
 */
export async function memoryInUse(rondo: RondoSystem): Promise<Record<string, number>> {
  rondo.signalServices('SIGUSR2');
  const inUse: Record<string, number> = {};
  for (const { name, pid } of rondo.deployment.services.all) if (pid !== undefined) inUse[name] = await readMb(pid);
  return inUse;
}

async function readMb(pid: number): Promise<number> {
  const file = bytesInUseFile(pid);
  while (!existsSync(file)) await sleep(20);
  const bytes = Number(readFileSync(file, 'utf8'));
  rmSync(file);
  return bytes / 1e6;
}
