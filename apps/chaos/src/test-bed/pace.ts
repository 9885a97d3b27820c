import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

const lookEveryMs = 500;

/** Begins `work` every `everyMs` until the signal aborts, and resolves when all of it has ended. */
export async function atPace(
  { over, everyMs }: { over: AbortSignal; everyMs: number },
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  const begun: Promise<unknown>[] = [];
  for (let n = 1; !over.aborted; n += 1) {
    begun.push(work(n));
    await delay(everyMs, undefined, { signal: over }).catch(() => undefined);
  }
  await Promise.all(begun);
}

/** Does `work` again and again until the signal aborts, `atOnce` at a time. */
export async function inLanes(
  { over, atOnce }: { over: AbortSignal; atOnce: number },
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  let n = 0;
  const lane = async () => {
    while (!over.aborted) await work((n += 1));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

export async function awaitAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Looks until it holds. False after `withinMs`. */
export async function comesTrue(look: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (!(await look())) {
    if (Date.now() > deadline) return false;
    await delay(lookEveryMs);
  }
  return true;
}
