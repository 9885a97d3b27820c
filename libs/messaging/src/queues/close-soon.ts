import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue, Worker } from 'bullmq';

const gentleMs = 500;
const cutMs = 1_000;

/**
 * Closes gently, and after a moment without asking: a Redis that is silent must not keep a process that has nothing left
 * to do (R14). What it was not told stands in Postgres.
 */
export async function closeSoon(connected: Queue | Worker): Promise<void> {
  const closed = connected.close().then(() => true);
  if (await Promise.race([closed, sleep(gentleMs, false, { ref: false })])) return;

  void connected.backend.client.then((client) => client.disconnect());
  await Promise.race([closed, sleep(cutMs, undefined, { ref: false })]);
}
