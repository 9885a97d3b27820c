import type { MissedPolicy } from '@rondo/contract';
import { type DueTimes, lastDueTime } from './due-times';

/** What to do about the due time of a schedule. `next` is the due time that follows; undefined when there is none. */
export type FiringStep =
  | { readonly action: 'fire'; readonly dueAt: Date; readonly next: Date | undefined }
  /** Every due time from the first to the last, both included. */
  | { readonly action: 'skip'; readonly dueAt: Date; readonly through: Date; readonly next: Date | undefined };

/** A due time is missed when the next one has come, or this time has passed, before it was fired. */
export const missedAfterMs = 60_000;

/** How many missed due times are made up for, the newest, with the policy `all`. */
export const mostMadeUp = 100;

interface DueSchedule {
  readonly times: DueTimes;
  readonly missed: MissedPolicy;
  /** Has come. */
  readonly dueAt: Date;
}

/** The next step of a schedule that is due. Taking all steps fires or skips every due time up to now, in order. */
export function firingStep({ times, missed, dueAt }: DueSchedule, now: Date): FiringStep {
  const next = times.next(dueAt);
  if (next === undefined || next > now) {
    const isMissed = now.getTime() - dueAt.getTime() > missedAfterMs;
    if (isMissed && missed === 'skip') return { action: 'skip', dueAt, through: dueAt, next };
    return { action: 'fire', dueAt, next };
  }
  const last = lastDueTime(times, dueAt, now);
  if (missed !== 'all') return { action: 'skip', dueAt, through: before(times, dueAt, last), next: last };
  return makeUp({ times, missed, dueAt }, next, last);
}

/** Fires the due time, unless too many follow it. */
function makeUp({ times, dueAt }: DueSchedule, next: Date, last: Date): FiringStep {
  if (!isFollowedBy(times, dueAt, { count: mostMadeUp, last })) return { action: 'fire', dueAt, next };
  let first = last;
  for (let kept = 1; kept < mostMadeUp; kept += 1) first = before(times, dueAt, first);
  return { action: 'skip', dueAt, through: before(times, dueAt, first), next: first };
}

function isFollowedBy(times: DueTimes, dueAt: Date, { count, last }: { count: number; last: Date }): boolean {
  let time: Date | undefined = dueAt;
  for (let found = 0; found < count; found += 1) {
    time = times.next(time);
    if (time === undefined || time > last) return false;
  }
  return true;
}

const before = (times: DueTimes, known: Date, time: Date): Date =>
  lastDueTime(times, known, new Date(time.getTime() - 1));
