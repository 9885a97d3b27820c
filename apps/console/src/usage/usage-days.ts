import type { UsageReport } from '@rondo/client';

export type UsageRow = UsageReport['data'][number];

/** What a chart can show of a day. */
export type Measure = 'cost' | 'tokens' | 'calls';

export interface Day {
  /** `2026-11-25`, UTC. */
  readonly day: string;
  readonly row: UsageRow | undefined;
}

const dayMs = 86_400_000;
const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The first of `days` days that end today, UTC. */
export const firstDay = (days: number, now: number): string => toDay(now - (days - 1) * dayMs);

/** Every day of the range, also those without calls. */
export function everyDay(rows: readonly UsageRow[], { days, now }: { days: number; now: number }): Day[] {
  const known = new Map(rows.map((row) => [row.day, row]));
  return Array.from({ length: days }, (_, index) => {
    const day = toDay(now - (days - 1 - index) * dayMs);
    return { day, row: known.get(day) };
  });
}

/** An unknown cost counts as nothing here; the page says how many calls have one. */
export function toAmount(row: UsageRow | undefined, measure: Measure): number {
  if (!row) return 0;
  if (measure === 'cost') return row.cost_usd ?? 0;
  return measure === 'calls' ? row.calls : row.input_tokens + row.output_tokens;
}

/** The next of 1, 2, 5, 10, 20 … that is not less. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= value) ?? 10;
  return factor * power;
}
