import { setFlagsFromString } from 'node:v8';

/** V8 tells of a flag that it does not know, and goes on without it. */
export const pretenuringFlag = '--no-allocation-site-pretenuring';

/**
 * Has V8 make every object young. By itself it makes those old at once whose like outlived its young generation, which what is
 * in flight does while the heap is still small. A service then drags along, until the next full collection, all that these
 * objects point to, though they live for milliseconds.
 */
export function disablePretenuring(): void {
  setFlagsFromString(pretenuringFlag);
}
