import { setTimeout as delay } from 'node:timers/promises';
import type { TestBed } from '../test-bed/test-bed';
import { flushRedis } from './flush-redis';
import { serverOutage } from './server-outage';

/** Kills Redis, NATS and Postgres in turn, each down for up to `downMs`, and empties Redis, until the signal aborts. */
export async function restartServers(
  testBed: TestBed,
  { everyMs, downMs, until }: { everyMs: number; downMs: number; until: AbortSignal },
): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    await delay(everyMs, undefined, { signal: until }).catch(() => undefined);
    if (until.aborted) return;
    const server = (['postgres', 'redis', 'nats'] as const)[turn % 4];
    if (server === undefined) await flushRedis(testBed);
    else await serverOutage(testBed, server, Math.random() * downMs);
  }
}
