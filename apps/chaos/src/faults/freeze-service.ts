import { setTimeout as delay } from 'node:timers/promises';
import type { TestBed } from '../test-bed/test-bed';

/** SIGSTOP, then SIGCONT: the process continues without noticing that its leases have expired. */
export async function freezeService(testBed: TestBed, instance: string, forMs: number): Promise<void> {
  const victim = testBed.rondo.services.get(instance);
  testBed.faults.note('SIGSTOP', instance);
  testBed.progress.faults += 1;
  await victim.kill('SIGSTOP');
  try {
    await delay(forMs);
  } finally {
    await victim.kill('SIGCONT');
  }
}
