const hourMs = 3_600_000;

/** How far the clock of a zone is ahead of UTC at an instant, in milliseconds. */
export type ZoneOffset = (instant: number) => number;

/** Undefined for a name that is no time zone of the IANA database. */
export function zoneOffset(timeZone: string): ZoneOffset | undefined {
  const format = findFormat(timeZone);
  if (!format) return undefined;
  return readOncePerWeek((instant) => {
    const second = Math.floor(instant / 1000) * 1000;
    return localTime(format, second) - second;
  });
}

/** No zone changes its clock twice within this time. */
const weekMs = 7 * 24 * hourMs;

/** Bounds what is remembered: about eighty years of weeks. */
const mostWeeks = 4_096;

interface Week {
  readonly offset: number;
  /** Undefined of a week in which the clock is not changed. */
  readonly change: { readonly at: number; readonly offset: number } | undefined;
}

/** Reading a clock is slow, and a search for due times does it often; two reads say what a whole week needs. */
function readOncePerWeek(read: ZoneOffset): ZoneOffset {
  const weeks = new Map<number, Week>();
  return (instant) => {
    const index = Math.floor(instant / weekMs);
    const week = weeks.get(index) ?? readWeek(read, index * weekMs);
    if (weeks.size >= mostWeeks) weeks.clear();
    weeks.set(index, week);
    return week.change === undefined || instant < week.change.at ? week.offset : week.change.offset;
  };
}

function readWeek(read: ZoneOffset, start: number): Week {
  const [offset, offsetThen] = [read(start), read(start + weekMs)];
  if (offset === offsetThen) return { offset, change: undefined };
  return { offset, change: { at: changeBetween(read, start, start + weekMs), offset: offsetThen } };
}

function findFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  if (!/^[A-Za-z]/.test(timeZone)) return undefined; // an offset such as +01:00 is no zone
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      hourCycle: 'h23',
      ...parts,
      second: 'numeric',
    });
  } catch {
    return undefined; // how Intl reports an unknown zone
  }
}

/** What the clock of the zone shows, as if it were UTC. */
function localTime(format: Intl.DateTimeFormat, instant: number): number {
  const shown = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes) => shown.get(name) ?? 0;
  const day = Date.UTC(part('year'), part('month') - 1, part('day'));
  return day + part('hour') * hourMs + part('minute') * 60_000 + part('second') * 1000;
}

/** The first instant after `from`, and not after `until`, at which the clock of the zone is changed. */
export function clockChangeIn(offset: ZoneOffset, from: number, until: number): number | undefined {
  for (let start = from; start < until; start += weekMs) {
    const end = Math.min(start + weekMs, until);
    if (offset(start) !== offset(end)) return changeBetween(offset, start, end);
  }
  return undefined;
}

/** Clocks change at whole seconds. */
function changeBetween(offset: ZoneOffset, start: number, end: number): number {
  const before = offset(start);
  let [low, high] = [Math.floor(start / 1000), Math.ceil(end / 1000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle * 1000) === before) low = middle;
    else high = middle;
  }
  return high * 1000;
}
