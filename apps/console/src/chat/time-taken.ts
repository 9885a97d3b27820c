import type { ToolCallRow } from '@rondo/client';

type TimedCall = Pick<ToolCallRow, 'startedAt' | 'durationMs'>;

/** How long the calls took together. What several took at the same time counts once. Null if none was measured. */
export function timeTaken(calls: readonly TimedCall[]): number | null {
  const measured = calls.flatMap(({ startedAt, durationMs }) =>
    durationMs === null ? [] : { from: startedAt === null ? 0 : Date.parse(startedAt), durationMs },
  );
  if (measured.length === 0) return null;
  let total = 0;
  let reached = 0;
  for (const { from, durationMs } of measured.sort((a, b) => a.from - b.from)) {
    const to = from + durationMs;
    total += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return total;
}
