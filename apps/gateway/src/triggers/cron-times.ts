import { CronExpressionParser } from 'cron-parser';
import { type ClockTimes, type DueTimes, dueTimes, zoneOffset } from '@rondo/domain';
import { z } from 'zod';

/** Five fields, six with seconds first, or a name such as `@daily`. Not `H`, which the parser replaces by a random time. */
const shape = /^(@[a-z]+|[^\s@]+( [^\s@]+){4,5})$/;
const randomField = /(^|[^A-Z])H/i;
const hoursOfDay = 24;

/** A cron expression, which names at least one time. */
export const cronExpression = z
  .string()
  .trim()
  .max(200)
  .transform((text) => text.replaceAll(/\s+/g, ' '))
  .superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** A time zone of the IANA database. */
export const timeZone = z
  .string()
  .max(64)
  .refine((name) => zoneOffset(name) !== undefined, 'must be a time zone such as Europe/Berlin or UTC');

/** The due times of an expression and a zone that were accepted. */
export function dueTimesOf(cron: string, zone: string): DueTimes {
  const offset = zoneOffset(zone);
  if (!offset) throw new Error(`${zone} is no time zone here`);
  return dueTimes(clockTimesOf(cron), offset);
}

function problemOf(text: string): string | undefined {
  if (!shape.test(text)) return 'must have five fields, or six with seconds first: minute hour day month weekday';
  if (randomField.test(text)) return 'must not have H';
  try {
    return clockTimesOf(text).next(0) === undefined ? 'names no time that ever comes' : undefined;
  } catch (error) {
    return error instanceof Error ? `cannot be read: ${error.message}` : 'cannot be read';
  }
}

/** The parser reads the expression, and finds its times on a clock without changes. */
function clockTimesOf(cron: string): ClockTimes {
  const parsed = CronExpressionParser.parse(cron, { tz: 'UTC' });
  return {
    namesEveryHour: parsed.fields.hour.values.length === hoursOfDay,
    next: (after) => {
      parsed.reset(new Date(after));
      try {
        return parsed.next().getTime();
      } catch {
        return undefined; // how the parser says that it has found none
      }
    },
  };
}
