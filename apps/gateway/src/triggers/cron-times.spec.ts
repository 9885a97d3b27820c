import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { zoneOffset } from '@rondo/domain';
import { cronExpression, toDueTimes, readLeastInterval, timeZone } from './cron-times';

const hourMs = 3_600_000;

function fires(cron: string, zone: string, { from, count }: { from: string; count: number }): string[] {
  const times = toDueTimes(cron, zone);
  const found: string[] = [];
  let at: Date | undefined = new Date(from);
  while (found.length < count && (at = times.next(at))) found.push(`${at.toISOString().slice(0, 16)}Z`);
  return found;
}

describe('a clock that is set forward', () => {
  it('fires a time that it skips at the moment of the change, once', () => {
    const from = '2026-03-28T12:00:00Z';

    expect(fires('30 2 * * *', 'Europe/Berlin', { from, count: 2 })).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
    expect(fires('*/10 2 * * *', 'Europe/Berlin', { from, count: 2 })).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-30T00:00Z',
    ]);
    expect(fires('*/30 * * * *', 'Europe/Berlin', { from: '2026-03-29T00:15:00Z', count: 3 })).toEqual([
      ...['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z'],
    ]);
    expect(fires('0 0 * * *', 'America/Sao_Paulo', { from: '2018-11-03T12:00:00Z', count: 2 })).toEqual([
      ...['2018-11-04T03:00Z', '2018-11-05T02:00Z'],
    ]);
  });

  it('fires once for a day that a zone leaves out', () => {
    expect(fires('0 9 * * *', 'Pacific/Apia', { from: '2011-12-29T12:00:00Z', count: 3 })).toEqual([
      ...['2011-12-29T19:00Z', '2011-12-30T10:00Z', '2011-12-30T19:00Z'],
    ]);
  });
});

describe('a clock that is set back', () => {
  const from = '2026-10-24T12:00:00Z';

  it('fires a time that it shows twice the first time', () => {
    expect(fires('30 2 * * *', 'Europe/Berlin', { from, count: 2 })).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
    expect(fires('*/30 1-3 * * *', 'Europe/Berlin', { from, count: 6 }).map((at) => at.slice(11))).toEqual([
      ...['23:00Z', '23:30Z', '00:00Z', '00:30Z', '02:00Z', '02:30Z'],
    ]);
    expect(fires('45 1 * * *', 'Australia/Lord_Howe', { from: '2026-04-04T00:00:00Z', count: 2 })).toEqual([
      ...['2026-04-04T14:45Z', '2026-04-05T15:15Z'],
    ]);
  });

  it('fires on in the hour that it repeats, if the expression names every hour', () => {
    expect(
      fires('*/30 * * * *', 'Europe/Berlin', { from: '2026-10-24T23:45:00Z', count: 6 }).map((at) => at.slice(11)),
    ).toEqual([...['00:00Z', '00:30Z', '01:00Z', '01:30Z', '02:00Z', '02:30Z']]);
  });
});

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kolkata',
];
const zone = fc.constantFrom(...zones, 'Pacific/Apia', 'Antarctica/Troll', 'America/St_Johns');
const field = (max: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 0, max }).map(String),
    fc.integer({ min: 2, max }).map((step) => `*/${step}`),
    fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 2, maxLength: 4 }).map((list) => list.join(',')),
  );
const cron = fc.tuple(field(59), field(23)).map(([minute, hour]) => `${minute} ${hour} * * *`);
/** From 2010 to 2029. */
const instant = fc.integer({ min: 1_262_304_000, max: 1_893_456_000 }).map((second) => new Date(second * 1000));

describe('due times', () => {
  it('are those that the definition says, minute by minute through changes of the clock', () => {
    fc.assert(
      fc.property(cron, zone, instant, (expression, name, after) => {
        const start = nearChange(name, after);
        expect(toDueTimes(expression, name).next(start)).toEqual(byDefinition(expression, name, start));
      }),
      { numRuns: 150 },
    );
  });

  it('are the same as those of the parser where no clock is changed', () => {
    fc.assert(
      fc.property(cron, zone, instant, (expression, name, after) => {
        const own = toDueTimes(expression, name).next(after);
        const parsed = CronExpressionParser.parse(expression, { tz: name, currentDate: after }).next().toDate();
        const offset = zoneOffset(name) ?? (() => NaN);
        const days = [-1, 0, 1, 2].map((day) => offset(after.getTime() + day * 24 * hourMs));
        if (new Set(days).size === 1) expect(own).toEqual(parsed);
      }),
      { numRuns: 300 },
    );
  });
});

const days = fc.oneof(
  field(28).map((text) => text.replaceAll(/\b0\b/g, '30')),
  fc.constantFrom('L', '29', '31', '?', '10-12', '1,L'),
);
const months = fc.oneof(
  fc.constantFrom('*', '2', '4,6,9,11', 'JAN', '*/5'),
  fc.integer({ min: 1, max: 12 }).map(String),
);
const weekdays = fc.constantFrom('*', '?', '0', '7', 'MON', '1-5', '5-7', '5L', '1#5', '3#1', '0,6', '*/3');
const anyCron = fc
  .tuple(field(59), field(59), field(23), days, months, weekdays)
  .map((fields) => fields.join(' '))
  .filter((text) => cronExpression.safeParse(text).success);

describe('the search for a time', () => {
  it('finds what the parser finds by looking at one unit after the other', () => {
    fc.assert(
      fc.property(anyCron, instant, (expression, after) => {
        const parsed = CronExpressionParser.parse(expression, { tz: 'UTC', currentDate: after });
        const own = toDueTimes(expression, 'UTC');
        let at: Date | undefined = after;
        for (const _ of [1, 2, 3]) {
          at = own.next(at ?? after);
          expect(at).toEqual(parsed.next().toDate());
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['59 59 23 29 2 *', '2028-02-29T23:59:59.000Z'],
    ['0 0 * 2 1#5', '2044-02-29T00:00:00.000Z'],
    ['0 0 31 2,4,12 *', '2026-12-31T00:00:00.000Z'],
  ])('looks at a bounded number of days: %s', (expression, expected) => {
    const after = new Date('2026-11-27T00:00:00.000Z');

    expect(toDueTimes(expression, 'Europe/London').next(after)?.toISOString()).toBe(expected);
  });

  it('finds a day that comes after forty years', () => {
    const times = toDueTimes('0 0 * 2 1#5', 'UTC');

    expect(times.next(new Date('2072-03-01T00:00:00Z'))?.toISOString()).toBe('2112-02-29T00:00:00.000Z');
  });
});

describe('the least interval of an expression', () => {
  it.each([
    ['* * * * *', 60],
    ['*/15 * * * * *', 15],
    ['0,59 * * * * *', 1],
    ['0,59 0 * * * *', 59],
    ['10,20 0,59 * * * *', 10],
    ['0 9 * * *', 86_400],
    ['0 0,23 * * *', 3_600],
    ['0,59 0,1 * * *', 60],
    ['@hourly', 3_600],
  ])('%s: %i s', (cron, seconds) => {
    expect(readLeastInterval(cron)).toBe(seconds);
  });

  it('is that between the times of two days', () => {
    fc.assert(
      fc.property(fc.tuple(field(59), field(59), field(23)), (fields) => {
        const times = toDueTimes(`${fields.join(' ')} * * *`, 'UTC');
        const gaps: number[] = [];
        let before = times.next(new Date('2026-11-27T00:00:00Z'));
        for (let count = 0; before && count < 500; count += 1) {
          const at = times.next(before);
          if (at) gaps.push((at.getTime() - before.getTime()) / 1000);
          before = at;
        }
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(readLeastInterval(`${fields.join(' ')} * * *`));
      }),
      { numRuns: 100 },
    );
  });
});

describe('attack: the thread of a gateway', () => {
  it('a hundred due times of the rarest expressions that are accepted', () => {
    const times = ['59 59 23 29 2 *', '59 59 23 * 2 1#5', '0 0 31 2,4,6,9,11,12 *'].flatMap((expression) =>
      ['Europe/Berlin', 'Africa/Casablanca', 'UTC'].map((name) => toDueTimes(expression, name)),
    );
    const worked = times.map((one) => {
      const before = process.cpuUsage();
      let at: Date | undefined = new Date('2026-11-27T00:00:00Z');
      for (let found = 0; at && found < 100; found += 1) at = one.next(at);
      return process.cpuUsage(before).user / 1_000;
    });

    expect(Math.max(...worked)).toBeLessThan(200); // milliseconds; ten times what is promised, for a slow machine
  });
});

/** Half a day before the next change of the clock within a year, where there is one. */
function nearChange(name: string, from: Date): Date {
  const offset = zoneOffset(name) ?? (() => NaN);
  for (let hour = 0; hour < 366 * 24; hour += 6) {
    const at = from.getTime() + hour * hourMs;
    if (offset(at) !== offset(at + 6 * hourMs)) return new Date(at - 6 * hourMs);
  }
  return from;
}

/** Looks at every minute: slow, and plainly the rule. */
function byDefinition(expression: string, name: string, after: Date): Date | undefined {
  const [minutes, hours] = [0, 1].map((index) => {
    const { fields } = CronExpressionParser.parse(expression, { tz: 'UTC' });
    return new Set<number>((index === 0 ? fields.minute : fields.hour).values.map(Number));
  });
  const isNamed = (shown: number) => {
    const clock = new Date(shown);
    return (
      clock.getUTCSeconds() === 0 &&
      minutes?.has(clock.getUTCMinutes()) === true &&
      hours?.has(clock.getUTCHours()) === true
    );
  };
  const offset = zoneOffset(name) ?? (() => NaN);
  const minuteMs = 60_000;
  const first = Math.floor(after.getTime() / minuteMs) * minuteMs + minuteMs;
  let latestShown = -Infinity;
  for (let at = first - 26 * hourMs; at < first; at += minuteMs) latestShown = Math.max(latestShown, at + offset(at));
  for (let at = first; at < first + 80 * hourMs; at += minuteMs) {
    const shown = at + offset(at);
    const before = at - minuteMs + offset(at - minuteMs);
    const skipped = Array.from(
      { length: Math.max(0, (shown - before) / minuteMs - 1) },
      (_, index) => before + (index + 1) * minuteMs,
    );
    const isFirstTime = shown > latestShown;
    if (skipped.some(isNamed) || (isNamed(shown) && (isFirstTime || hours?.size === 24))) return new Date(at);
    latestShown = Math.max(latestShown, shown);
  }
  return undefined;
}

describe('what a client may send', () => {
  it.each(['0 9 * * 1-5', '*/5 * * * * *', '0 0 L * *', '0 9 * * THU', '  0   9 * * * ', '0 0 29 2 *'])(
    '%s is a cron expression',
    (text) => {
      expect(cronExpression.safeParse(text).success).toBe(true);
    },
  );

  it.each(['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'])(
    '%s is a cron expression',
    (text) => {
      const [first] = fires(text, 'UTC', { from: '2026-11-27T12:30:00Z', count: 1 });

      expect(cronExpression.safeParse(text).success).toBe(true);
      expect(first).toMatch(/T\d\d:00Z$/);
    },
  );

  it.each(['0 9 * * 0,7', '0 9 * * 7', '0 9 * * SUN,7', '0 9 * * sun', '0 9 * * 7,0,7'])('%s names Sundays', (text) => {
    expect(cronExpression.safeParse(text).success).toBe(true);
    expect(fires(text, 'UTC', { from: '2026-11-27T12:00:00Z', count: 2 })).toEqual([
      '2026-11-29T09:00Z',
      '2026-12-06T09:00Z',
    ]);
  });

  it('a range that ends on Sunday may stand beside it', () => {
    const names = (text: string) => fires(text, 'UTC', { from: '2026-11-27T12:00:00Z', count: 3 });

    expect(names('0 9 * * 6-7,0')).toEqual(names('0 9 * * 6,0'));
    expect(names('0 9 * * 0-1,7')).toEqual(names('0 9 * * 0,1'));
  });

  it.each([
    '',
    'every day',
    '* * *',
    '61 * * * *',
    '0 24 * * *',
    '0 0 30 2 *',
    '0 0 31 2,4 *',
    'H H * * *',
    '* * * * * * *',
    '@reboot',
    '0 0 * * 8',
    'x'.repeat(300),
  ])('"%s" is none', (text) => {
    expect(cronExpression.safeParse(text).success).toBe(false);
  });

  it.each(['Mars/Base', '+01:00', '', 'Europe/Berlin; drop'])('"%s" is no time zone', (name) => {
    expect(timeZone.safeParse(name).success).toBe(false);
  });
});
