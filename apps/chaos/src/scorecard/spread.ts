/** Percentiles of durations, in milliseconds. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** By nearest rank, so that each figure is a measured one. Undefined without values. */
export function findSpread(times: readonly number[]): Spread | undefined {
  const sorted = times.toSorted((a, b) => a - b);
  const max = sorted.at(-1);
  if (max === undefined) return undefined;
  const rank = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? max);
  return { count: sorted.length, p50: rank(0.5), p95: rank(0.95), p99: rank(0.99), max: Math.round(max) };
}
