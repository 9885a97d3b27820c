import { setTimeout as delay } from 'node:timers/promises';

/**
 * Looks until `look` returns something true, and resolves with it. Rejects after `withinMs` with `what` was waited for and the last
 * error.
 */
export async function waitUntil(what, look, { withinMs = 300_000, everyMs = 1_000 } = {}) {
  const deadline = performance.now() + withinMs;
  for (let last = ''; ; await delay(everyMs)) {
    try {
      const found = await look();
      if (found) return found;
    } catch (error) {
      last = `: ${error.message}`;
    }
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}${last}`);
  }
}
