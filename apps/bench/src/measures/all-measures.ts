import { firstToken } from './first-token';
import { gap } from './gap';
import { growth } from './growth';
import type { Comparison, Count, Trial } from './measure';
import { memory } from './memory';
import { recovery } from './recovery';
import { streams } from './streams';
import { tokens } from './tokens';
import { turns } from './turn-cost';

/** In the order in which they are taken. */
export const comparisons: readonly Comparison[] = [turns, gap, firstToken, streams, growth];

export const trials: readonly Trial[] = [memory, recovery];

export const counts: readonly Count[] = [tokens];
