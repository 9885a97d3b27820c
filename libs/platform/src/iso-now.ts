let lastMs = NaN;
let lastText = '';

/** The time as ISO 8601, UTC, to the millisecond. It is asked for every token, often many times in one millisecond. */
export function isoNow(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
