import { age, ahead, cost, describeExpiry, duration, momentIn } from './amounts';

it.each([
  [0.4, '< 1 ms'],
  [40, '40 ms'],
  [999.6, '1.0 s'],
  [1_440, '1.4 s'],
  [59_999, '59 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [-5, '< 1 ms'],
])('%d ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it('says how long ago it was', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  expect(['2026-01-01T23:59:58Z', '2026-01-01T23:20:00Z', '2025-12-30T00:00:00Z'].map((at) => age(at, now))).toEqual([
    'just now',
    '40 min ago',
    '3 d ago',
  ]);
});

it('neither an unknown cost nor a very small one is zero', () => {
  const costs = ['cost unknown', '$0', '< $0.0001', '$0.0012', '$3.00', '−$1.50'];
  expect([null, 0, 0.00002, 0.0012, 3, -1.5].map(cost)).toEqual(costs);
});

it('says how long it will be', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const times = [
    '2026-01-01T00:00:00Z',
    '2026-01-02T00:00:30Z',
    '2026-01-02T00:59:59Z',
    '2026-01-03T09:00:00Z',
    '2026-01-09T00:00:00Z',
  ];
  expect(times.map((at) => ahead(at, now))).toEqual(['now', 'in 30 s', 'in 59 min', 'in 33 h', 'in 7 d']);
});

it('says when something is in the zone that it was planned in, and else names the zone', () => {
  jest.useFakeTimers({ now: Date.parse('2026-01-02T00:00:00Z') });
  const at = '2026-11-27T08:00:00Z';
  expect(momentIn(at, 'Europe/Berlin')).toBe('Fri, Nov 27, 9:00 AM');
  expect(momentIn(at, 'Mars/Olympus')).toMatch(/^Fri, Nov 27, .* (?:[A-Z]{2,}|GMT)/);
  expect(momentIn('2028-02-29T08:00:00Z', 'Europe/Berlin')).toBe('Tue, Feb 29, 2028, 9:00 AM');
  jest.useRealTimers();
});

it('says that something has expired', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const ends = [null, '2026-01-01T00:00:00Z', '2126-01-02T12:00:00Z'];
  expect(ends.map((at) => describeExpiry(at, now))).toEqual([
    'never',
    'expired 1 d ago',
    expect.stringMatching(/^Wed, Jan 2, 2126/),
  ]);
});
