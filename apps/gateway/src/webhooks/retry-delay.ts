const minute = 60_000;
const hour = 60 * minute;

/** The pauses after failed attempts, at least. Together 26 hours: an endpoint may be away for a day. */
export const retryPausesMs = [
  ...[5_000, 30_000, 2 * minute, 10 * minute, 30 * minute],
  ...[hour, 2 * hour, 4 * hour, 6 * hour, 12 * hour],
];

/** A fifth is added by chance, so that what failed together is not sent together again. */
const jitter = 0.2;

/** The pause after the attempt with this number, from 1; undefined after the last one. `random` is in [0, 1). */
export function retryDelayMs(attempt: number, random: number): number | undefined {
  const pauseMs = retryPausesMs[attempt - 1];
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (1 + jitter * random));
}
