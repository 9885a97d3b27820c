import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';
import { type ClockTimes, type DueTimes, type ZoneOffset, dueTimes, zoneOffset } from '@rondo/domain';
import { LruCache } from '@rondo/platform';
import { z } from 'zod';
import { type CalendarDay, type CronFields, clockTimes, leastInterval } from './clock-times';

/** Five fields, six with seconds first, or a name such as `@daily`. Not `H`, which the parser replaces by a random time. */
const shape = /^(@[a-z]+|[^\s@]+( [^\s@]+){4,5})$/;
const randomField = /(^|[^A-Z@])H/i;
const midnight = '0 0 0 * * *';

/** Making the clock of a zone takes a tenth of a millisecond. */
const knownZones = new LruCache<string, ZoneOffset>(64);

/** Reading an expression takes as long. */
const knownExpressions = new LruCache<string, ClockTimes>(1_000);

/** A cron expression, which names at least one time. */
export const cronExpression = z
  .string()
  .trim()
  .max(200)
  .transform((text) => text.replaceAll(/\s+/g, ' '))
  .superRefine((text, context) => {
    const message = findProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** A time zone of the IANA database. */
export const timeZone = z
  .string()
  .max(64)
  .refine((name) => zoneClock(name) !== undefined, 'must be a time zone such as Europe/Berlin or UTC');

/** The due times of an expression and a zone that were accepted. */
export function toDueTimes(cron: string, zone: string): DueTimes {
  const offset = zoneClock(zone);
  if (!offset) throw new Error(`${zone} is no time zone here`);
  return dueTimes(readClockTimes(cron), offset);
}

/** The least time between two due times on one day or on two that follow each other, in seconds. */
export const readLeastInterval = (cron: string): number => leastInterval(readFields(cron));

/** The first due times after an instant, in order. */
export function firstDueTimes(times: DueTimes, after: Date, count: number): Date[] {
  const found: Date[] = [];
  let at = times.next(after);
  while (at) {
    found.push(at);
    at = found.length < count ? times.next(at) : undefined;
  }
  return found;
}

function zoneClock(name: string): ZoneOffset | undefined {
  const offset = knownZones.get(name) ?? zoneOffset(name);
  if (offset) knownZones.set(name, offset);
  return offset;
}

function findProblem(text: string): string | undefined {
  if (!shape.test(text)) return 'must have five fields, or six with seconds first: minute hour day month weekday';
  if (randomField.test(text)) return 'must not have H';
  try {
    return readClockTimes(text).next(0) === undefined ? 'names no time that ever comes' : undefined;
  } catch (error) {
    return error instanceof Error ? `cannot be read: ${error.message}` : 'cannot be read';
  }
}

/** The times of an expression on a clock without changes. Throws when it cannot be read. */
function readClockTimes(cron: string): ClockTimes {
  const times = knownExpressions.get(cron) ?? parseClockTimes(cron);
  knownExpressions.set(cron, times);
  return times;
}

const parseClockTimes = (cron: string): ClockTimes => clockTimes(readFields(cron));

function readFields(cron: string): CronFields {
  const { fields } = CronExpressionParser.parse(parsable(cron), { tz: 'UTC' });
  return {
    seconds: fields.second.values,
    minutes: fields.minute.values,
    hours: fields.hour.values,
    months: new Set<number>(fields.month.values),
    isDay: (day) => isNamedDay(fields, day),
  };
}

/** What the parser does not know: `@midnight`, and Sunday as 0 and as 7 beside each other. */
function parsable(cron: string): string {
  if (cron === '@midnight') return midnight;
  const fields = cron.split(' ');
  const weekdays = (fields.at(-1) ?? '').split(',');
  const isSunday = (item: string) => /^([07]|sun)$/i.test(item);
  const withSunday = /^((0|sun)-|.*-(7|sun)$)/i; // a range
  const others = weekdays.filter((item) => !isSunday(item));
  if (others.length === weekdays.length) return cron;
  const kept = others.some((item) => withSunday.test(item)) ? others : [...others, '0'];
  return [...fields.slice(0, -1), kept.join(',')].join(' ');
}

/** With a day of the month and a weekday, either is enough. */
function isNamedDay({ dayOfMonth, dayOfWeek }: CronFieldCollection, day: CalendarDay): boolean {
  if (dayOfMonth.isWildcard && dayOfWeek.isWildcard) return true;
  return (!dayOfMonth.isWildcard && isInMonth(dayOfMonth, day)) || (!dayOfWeek.isWildcard && isInWeek(dayOfWeek, day));
}

const isInMonth = ({ values, hasLastChar }: CronFieldCollection['dayOfMonth'], { day, daysInMonth }: CalendarDay) =>
  values.some((value) => value === day) || (hasLastChar && day === daysInMonth);

/** `5#3` is the third Friday of the month, and `5L` the last one. */
function isInWeek({ values, nthDay, hasLastChar }: CronFieldCollection['dayOfWeek'], day: CalendarDay): boolean {
  const isNth = nthDay <= 0 || Math.ceil(day.day / 7) === nthDay;
  if (isNth && values.some((value) => value === day.weekday)) return true;
  const isLast = hasLastChar && day.day > day.daysInMonth - 7;
  return isLast && values.some((value) => Number.parseInt(String(value), 10) % 7 === day.weekday);
}
