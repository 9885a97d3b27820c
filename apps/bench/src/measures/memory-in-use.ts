import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesInUseFile } from '../inside/bytes-in-use';
import type { RondoContender } from '../rondo-contender';

/**
 * Has each service collect its garbage, and resolves with what is left in it: its heap, and what that holds outside of
 * it, in MB by name. The services were started with `inside/collect-garbage`.
 */
export async function memoryInUse(rondo: RondoContender): Promise<Record<string, number>> {
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
