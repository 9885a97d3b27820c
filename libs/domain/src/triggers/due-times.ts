import { type ZoneOffset, clockChangeIn } from './zone-offset';

/** The times that a cron expression names on a clock that is never changed, as if it showed UTC. */
export interface ClockTimes {
  /** The first one after this time. Undefined when no other follows. */
  next(after: number): number | undefined;
  /** Whether the expression names every hour. Its times then also come in the hour that a clock set back repeats. */
  readonly namesEveryHour: boolean;
}

/** The instants at which a schedule is due, each later than the one before. */
export interface DueTimes {
  /** The first one after this instant. Undefined when no other follows. */
  next(after: Date): Date | undefined;
}

const dayMs = 24 * 3_600_000;

/**
 * The instants of clock times in a time zone whose clock is set forward and back:
 *
 * - A time that the clock skips is due at the moment of the change, once for all times that it skips.
 * - A time that the clock shows twice is due the first time only, unless the expression names every hour.
 */
export const dueTimes = (times: ClockTimes, offset: ZoneOffset): DueTimes => ({
  next: (after) => {
    const instant = nextInstant(times, offset, after.getTime());
    return instant === undefined ? undefined : new Date(instant);
  },
});

/** Longer than a clock is set forward or back, and than it is ahead of or behind UTC. */
const nearMs = 3 * dayMs;

function nextInstant(times: ClockTimes, offset: ZoneOffset, after: number): number | undefined {
  let [instant, shown] = [after, after + offset(after)];
  for (;;) {
    const time = times.next(shown);
    if (time === undefined) return undefined;
    const ahead = offset(instant);
    const candidate = time - ahead;
    const change = clockChangeIn(offset, instant, Math.min(candidate, instant + nearMs));
    if (change !== undefined) {
      const aheadThen = offset(change);
      if (time < change + aheadThen) return change; // a time that the clock skips
      shown = change + aheadThen - 1;
      instant = change;
    } else if (candidate - instant > 2 * nearMs) {
      // Changes in between neither repeat nor skip a time that is named, so only those near both ends are looked at.
      instant = candidate - nearMs;
      shown = instant + offset(instant);
    } else {
      const again = times.namesEveryHour ? undefined : endOfRepetition(offset, candidate);
      if (again === undefined) return candidate;
      shown = again - 1;
    }
  }
}

/** The clock time at which the clock stops repeating itself, if it has shown this instant's time before. */
function endOfRepetition(offset: ZoneOffset, instant: number): number | undefined {
  const [before, now] = [offset(instant - dayMs), offset(instant)];
  if (before <= now) return undefined;
  const change = clockChangeIn(offset, instant - dayMs, instant) ?? instant;
  return instant + now < change + before ? change + before : undefined;
}

/** The last due time that is not after `until`, given one that is not. */
export function lastDueTime(times: DueTimes, known: Date, until: Date): Date {
  let [low, high] = [known.getTime() / 1000, Math.floor(until.getTime() / 1000)];
  const isFollowed = (second: number) => (times.next(new Date(second * 1000)) ?? Infinity) <= until;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isFollowed(middle)) low = middle + 1;
    else high = middle;
  }
  return new Date(low * 1000);
}
