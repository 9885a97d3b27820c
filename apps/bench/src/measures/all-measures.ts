import { facades } from './facades';
import { gap } from './gap';
import { growth } from './growth';
import { idle } from './idle';
import type { Comparison, Count, Trial } from './measure';
import { memory } from './memory';
import { recovery } from './recovery';
import { start } from './start';
import { streams } from './streams';
import { tokens } from './tokens';
import { light, runCost, turns } from './turn-cost';

/** In the order in which they are taken. */
export const comparisons: readonly Comparison[] = [turns, gap, start, light, runCost, streams, growth];

export const trials: readonly Trial[] = [facades, idle, memory, recovery];

export const counts: readonly Count[] = [tokens];
