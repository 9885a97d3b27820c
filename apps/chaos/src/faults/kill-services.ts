import { setTimeout as delay } from 'node:timers/promises';
import type { TestBed } from '../test-bed/test-bed';

/** The relative frequency of each service as a victim. */
export type Mix = Readonly<Record<string, number>>;

/**
 * Kills random instances until the signal aborts. Each kill waits until the last victim runs again, since a machine that
 * is too slow for the pace would otherwise make no progress.
 */
export async function killServices(
  testBed: TestBed,
  { mix, everyMs, until }: { mix: Mix; everyMs: number; until: AbortSignal },
): Promise<void> {
  const isOver = new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
  let isBack: Promise<unknown> = Promise.resolve();
  for (;;) {
    await Promise.all([delay(everyMs, undefined, { signal: until }).catch(() => undefined), isBack]);
    if (until.aborted) return;
    const victim = oneOf(testBed.instances(drawService(mix)));
    await killInstance(testBed, victim);
    isBack = Promise.race([victim.start(), isOver]);
  }
}

export async function killInstance(
  testBed: TestBed,
  victim: { name: string; pid: number | undefined; kill(): Promise<void> },
): Promise<void> {
  if (victim.pid === undefined) return; // it is starting
  testBed.faults.note('kill -9', victim.name);
  testBed.progress.faults += 1;
  await victim.kill();
}

/** A random service by weight. */
function drawService(mix: Mix): string {
  return oneOf(Object.entries(mix).flatMap(([service, weight]) => Array.from({ length: weight }, () => service)));
}

export function oneOf<Thing>(things: readonly Thing[]): Thing {
  const thing = things[Math.floor(Math.random() * things.length)];
  if (thing === undefined) throw new Error('there is nothing to choose from');
  return thing;
}
