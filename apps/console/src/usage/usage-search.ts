import type { Measure } from './usage-days.ts';

export const ranges = [7, 30, 90] as const;

export interface UsageSearch {
  readonly days?: (typeof ranges)[number];
  readonly measure?: Measure;
}

const measures: readonly Measure[] = ['cost', 'tokens', 'calls'];

/** What the page shows, as the address has it. */
export function readUsageSearch({ days, measure }: Record<string, unknown>): UsageSearch {
  const range = ranges.find((candidate) => candidate === days);
  const known = measures.find((candidate) => candidate === measure);
  return { ...(range && { days: range }), ...(known && { measure: known }) };
}
