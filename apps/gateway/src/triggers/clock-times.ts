import type { ClockTimes } from '@rondo/domain';

/** What a cron expression names. The numbers of a field ascend. */
export interface CronFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** 1 to 12. */
  readonly months: ReadonlySet<number>;
  readonly isDay: (day: CalendarDay) => boolean;
}

export interface CalendarDay {
  /** 1 to 31. */
  readonly day: number;
  readonly daysInMonth: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

const dayMs = 24 * 3_600_000;
const hoursOfDay = 24;

/** The rarest day that can be named, the fifth Monday of February, may come forty years after the one before. */
const monthsAhead = 41 * 12;

/**
 * The times that an expression names. One is found by arithmetic on its fields: at most 492 months are looked at, and of
 * those that are named each day once.
 */
export const clockTimes = (fields: CronFields): ClockTimes => ({
  namesEveryHour: fields.hours.length === hoursOfDay,
  next: (after) => {
    const from = (Math.floor(after / 1000) + 1) * 1000;
    const today = Math.floor(from / dayMs) * dayMs;
    const first = firstDay(fields, today);
    if (first === undefined) return undefined;
    const time = first === today ? firstTime(fields, (from - today) / 1000) : firstTime(fields, 0);
    if (time !== undefined) return first + time * 1000;
    const next = firstDay(fields, today + dayMs);
    return next === undefined ? undefined : next + (firstTime(fields, 0) ?? 0) * 1000;
  },
});

/** The first day that is named and does not begin before `from`, the begin of a day. */
function firstDay({ months, isDay }: CronFields, from: number): number | undefined {
  const start = new Date(from);
  const [year, month] = [start.getUTCFullYear(), start.getUTCMonth()];
  for (let ahead = 0; ahead < monthsAhead; ahead += 1) {
    if (!months.has(((month + ahead) % 12) + 1)) continue;
    const begin = Date.UTC(year, month + ahead, 1);
    const daysInMonth = (Date.UTC(year, month + ahead + 1, 1) - begin) / dayMs;
    const firstWeekday = new Date(begin).getUTCDay();
    for (let day = ahead === 0 ? start.getUTCDate() : 1; day <= daysInMonth; day += 1) {
      const weekday = (firstWeekday + day - 1) % 7;
      if (isDay({ day, daysInMonth, weekday })) return begin + (day - 1) * dayMs;
    }
  }
  return undefined;
}

/** The first second of the day, from 0, that is named and not before `from`. */
function firstTime({ seconds, minutes, hours }: CronFields, from: number): number | undefined {
  const [hour, minute, second] = [Math.floor(from / 3_600), Math.floor((from % 3_600) / 60), from % 60];
  const [firstMinute = 0, firstSecond = 0] = [minutes[0], seconds[0]];
  const sameMinute = seconds.find((value) => value >= second);
  if (sameMinute !== undefined && hours.includes(hour) && minutes.includes(minute)) {
    return hour * 3_600 + minute * 60 + sameMinute;
  }
  const sameHour = minutes.find((value) => value > minute);
  if (sameHour !== undefined && hours.includes(hour)) return hour * 3_600 + sameHour * 60 + firstSecond;
  const later = hours.find((value) => value > hour);
  return later === undefined ? undefined : later * 3_600 + firstMinute * 60 + firstSecond;
}

/** The least time between two times that are named, in seconds, as if every day were. */
export function leastInterval({ seconds, minutes, hours }: CronFields): number {
  const inMinute = spread(seconds);
  const inHour = spread(minutes) * 60 + inMinute;
  const overMidnight = hoursOfDay - spread(hours);
  return Math.min(
    leastStep(seconds),
    leastStep(minutes) * 60 - inMinute,
    Math.min(leastStep(hours), overMidnight) * 3_600 - inHour,
  );
}

const spread = (values: readonly number[]): number => (values.at(-1) ?? 0) - (values[0] ?? 0);

/** Between neighbours. Infinity for a single value. */
const leastStep = (values: readonly number[]): number =>
  Math.min(...values.slice(1).map((value, index) => value - (values[index] ?? 0)));
