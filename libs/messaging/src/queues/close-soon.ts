import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';

const gracefulMs = 500;
const forcedMs = 1_000;

/**
 * Closes gracefully, and by force after a moment: BullMQ's close has no timeout, and a Redis that does not answer must not
 * keep a process from exiting. What Redis was not told is in Postgres.
 */
export async function closeSoon(queue: Queue): Promise<void> {
  const closed = queue.close().then(() => true);
  if (await Promise.race([closed, sleep(gracefulMs, false, { ref: false })])) return;

  void queue.backend.client.then((client) => client.disconnect());
  await Promise.race([closed, sleep(forcedMs, undefined, { ref: false })]);
}
