import type { Usage } from '@rondo/client';

export { bytes, count, duration } from '@rondo/react';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** One unit: `just now`, `4 min ago`. */
export function age(from: string, now: number): string {
  const ms = now - Date.parse(from);
  if (ms < 5 * second) return 'just now';
  if (ms < minute) return `${Math.floor(ms / second)} s ago`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ago`;
  if (ms < day) return `${Math.floor(ms / hour)} h ago`;
  return `${Math.floor(ms / day)} d ago`;
}

/** One unit: `now`, `in 4 min`. */
export function ahead(to: string, now: number): string {
  const ms = Date.parse(to) - now;
  if (ms < second) return 'now';
  if (ms < minute) return `in ${Math.ceil(ms / second)} s`;
  if (ms < hour) return `in ${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `in ${Math.floor(ms / hour)} h`;
  return `in ${Math.floor(ms / day)} d`;
}

/** `never`, `Thu, Nov 26, 9:00 AM`, or `expired 4 min ago`. */
export function describeExpiry(at: string | null, now: number): string {
  if (at === null) return 'never';
  return Date.parse(at) <= now ? `expired ${age(at, now)}` : moment(at);
}

const parts = { weekday: 'short', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;

/** `Thu, Nov 26, 9:00 AM`, in the browser's time zone; with the year where it is another one than now. */
export function moment(at: string): string {
  const date = new Date(at);
  return date.toLocaleString('en-US', selectParts(date));
}

function selectParts(date: Date) {
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return isThisYear ? parts : ({ ...parts, year: 'numeric' } as const);
}

/** The same in another zone; with the name of its own zone where the browser does not know that one. */
export function momentIn(at: string, timeZone: string): string {
  const date = new Date(at);
  try {
    return date.toLocaleString('en-US', { ...selectParts(date), timeZone });
  } catch {
    return date.toLocaleString('en-US', { ...selectParts(date), timeZoneName: 'short' });
  }
}

export const between = (from: string, to: string): number => Date.parse(to) - Date.parse(from);

/** Before the first reply has ended, nothing is known of what it uses: zeros would be wrong. */
export const isUsageKnown = (usage: Pick<Usage, 'input_tokens' | 'output_tokens'>): boolean =>
  usage.input_tokens + usage.output_tokens > 0;

/** What is less has no digits left. */
const smallest = 0.0001;

/** An unknown cost is not zero, and neither is a very small one. */
export function cost(usd: number | null): string {
  if (usd === null) return 'cost unknown';
  if (usd === 0) return '$0';
  if (usd > 0 && usd < smallest) return `< $${smallest}`;
  if (usd < 0) return `−${cost(-usd)}`;
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}
