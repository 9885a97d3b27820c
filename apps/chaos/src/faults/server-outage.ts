import { setTimeout as delay } from 'node:timers/promises';
import type { Stage } from '../stage/stage';

type Server = 'postgres' | 'redis' | 'nats';
/** Milliseconds, from … to. */
type Range = readonly [number, number];

/** The server is killed and stays away for a while. Resolves with the time at which it was back. */
export async function serverOutage(stage: Stage, server: Server, forMs: number): Promise<number> {
  const victim = stage.rondo.infrastructure.get(server);
  stage.faults.note('kill -9', server);
  stage.tally.faults += 1;
  await victim.kill();
  await delay(forMs);
  await victim.start();
  return Date.now();
}

/** One outage after the other, with random pauses between them, until told to stop. */
export async function serverOutages(
  stage: Stage,
  server: Server,
  { pauseMs, downMs, until }: { pauseMs: Range; downMs: Range; until: AbortSignal },
): Promise<void> {
  for (;;) {
    await delay(between(pauseMs), undefined, { signal: until }).catch(() => undefined);
    if (until.aborted) return;
    await serverOutage(stage, server, between(downMs));
  }
}

const between = ([least, most]: Range): number => least + Math.random() * (most - least);
