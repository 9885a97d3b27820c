import { setFlagsFromString } from 'node:v8';

/** V8 reports an unknown flag and ignores it. */
export const pretenuringFlag = '--no-allocation-site-pretenuring';

/**
 * Disables V8's pretenuring, which allocates objects directly in the old generation when earlier ones from the same
 * place survived a young collection. While the heap is small, messages in flight do survive one; their successors, which
 * live for milliseconds, would then stay with all that they refer to until the next full collection.
 */
export function disablePretenuring(): void {
  setFlagsFromString(pretenuringFlag);
}
