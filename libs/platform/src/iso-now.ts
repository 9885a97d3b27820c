let lastMs = NaN;
let lastText = '';

/** The time as ISO 8601, UTC, to the millisecond. Cached per millisecond, since it is called for every token. */
export function isoNow(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
