import type { IncomingHttpHeaders } from 'node:http';

/** How long a refused client should wait: `retry-after-ms`, or `retry-after` as seconds or as a date. */
export function retryAfterMs(headers: IncomingHttpHeaders = {}): number | undefined {
  const milliseconds = headers['retry-after-ms'];
  if (milliseconds && Number(milliseconds) >= 0) return Number(milliseconds);

  const value = headers['retry-after'];
  if (!value) return undefined;
  if (Number(value) >= 0) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
