import { setTimeout as delay } from 'node:timers/promises';
import type { Stage } from '../stage/stage';

/** Services by how often they are drawn. */
export type Mix = Readonly<Record<string, number>>;

/**
 * Kills an instance of a service drawn at random, again and again, until told to stop. The next waits until the one
 * before is back: a machine that is too slow for the pace would otherwise never run anything.
 */
export async function killServices(
  stage: Stage,
  { mix, everyMs, until }: { mix: Mix; everyMs: number; until: AbortSignal },
): Promise<void> {
  const isOver = new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
  let isBack: Promise<unknown> = Promise.resolve();
  for (;;) {
    await Promise.all([delay(everyMs, undefined, { signal: until }).catch(() => undefined), isBack]);
    if (until.aborted) return;
    const victim = oneOf(stage.instances(drawn(mix)));
    await killInstance(stage, victim);
    isBack = Promise.race([victim.start(), isOver]);
  }
}

export async function killInstance(
  stage: Stage,
  victim: { name: string; pid: number | undefined; kill(): Promise<void> },
): Promise<void> {
  if (victim.pid === undefined) return; // it is on its way back
  stage.faults.note('kill -9', victim.name);
  stage.tally.faults += 1;
  await victim.kill();
}

/** A service, drawn by its weight. */
function drawn(mix: Mix): string {
  return oneOf(Object.entries(mix).flatMap(([service, weight]) => Array.from({ length: weight }, () => service)));
}

export function oneOf<Thing>(things: readonly Thing[]): Thing {
  const thing = things[Math.floor(Math.random() * things.length)];
  if (thing === undefined) throw new Error('there is nothing to choose from');
  return thing;
}
