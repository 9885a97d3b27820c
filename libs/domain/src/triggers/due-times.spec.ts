import { type ClockTimes, type DueTimes, dueTimes } from './due-times';
import { type ZoneOffset, zoneOffset } from './zone-offset';

const yearMs = 365 * 24 * 3_600_000;

/** Once in eight years, on a clock without changes. */
const rare: ClockTimes = {
  namesEveryHour: false,
  next: (after) => Math.floor(after / (8 * yearMs) + 1) * 8 * yearMs,
};

function counting(name: string) {
  const offset = zoneOffset(name) ?? (() => NaN);
  const count = { reads: 0 };
  const counted: ZoneOffset = (instant) => {
    count.reads += 1;
    return offset(instant);
  };
  return { counted, count };
}

function take(times: DueTimes, count: number): Date[] {
  const found: Date[] = [];
  for (let at = times.next(new Date(0)); at && found.length < count; at = times.next(at)) found.push(at);
  return found;
}

describe('dueTimes', () => {
  it.each(['Europe/Berlin', 'Africa/Casablanca', 'Pacific/Apia'])(
    'looks at the clock of %s a bounded number of times, however far away the next time is',
    (name) => {
      const { counted, count } = counting(name);

      expect(take(dueTimes(rare, counted), 20)).toHaveLength(20);
      expect(count.reads).toBeLessThan(20 * 60);
    },
  );

  it('finds a time that the clock skips also after years', () => {
    const skipped = Date.UTC(2034, 2, 26, 2, 30); // summer time begins at two in Berlin
    const once: ClockTimes = { namesEveryHour: false, next: (after) => (after < skipped ? skipped : undefined) };
    const offset = zoneOffset('Europe/Berlin') ?? (() => NaN);

    expect(take(dueTimes(once, offset), 2)).toEqual([new Date('2034-03-26T01:00:00Z')]);
  });
});
