import { setTimeout as delay } from 'node:timers/promises';
import type { Stage } from '../stage/stage';

/** SIGSTOP, and SIGCONT after a while: the process wakes up and believes that no time has passed. */
export async function freezeService(stage: Stage, instance: string, forMs: number): Promise<void> {
  const victim = stage.rondo.services.get(instance);
  stage.faults.note('SIGSTOP', instance);
  stage.tally.faults += 1;
  await victim.kill('SIGSTOP');
  try {
    await delay(forMs);
  } finally {
    await victim.kill('SIGCONT');
  }
}
