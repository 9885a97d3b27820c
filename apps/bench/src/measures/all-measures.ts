import { firstToken } from './first-token';
import { gap } from './gap';
import { growth } from './growth';
import type { Comparison, Trial } from './measure';
import { memory } from './memory';
import { recovery } from './recovery';
import { tokens } from './tokens';
import { turns } from './turn-cost';

/** In the order in which they are taken. */
export const comparisons: readonly Comparison[] = [turns, gap, firstToken, tokens, growth];

export const trials: readonly Trial[] = [memory, recovery];
