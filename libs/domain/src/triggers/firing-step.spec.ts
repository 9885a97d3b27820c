import type { MissedPolicy } from '@rondo/contract';
import fc from 'fast-check';
import type { DueTimes } from './due-times';
import { firingStep } from './firing-step';

const every = (seconds: number): DueTimes => ({
  next: (after) => new Date((Math.floor(after.getTime() / 1000 / seconds) + 1) * seconds * 1000),
});
const at = (second: number) => new Date(second * 1000);
const toSecond = (date: Date | undefined) => (date?.getTime() ?? NaN) / 1000;

/** Takes every step that is due. */
function stepsUpTo(now: number, { seconds, missed, first }: { seconds: number; missed: MissedPolicy; first: number }) {
  const times = every(seconds);
  const fired: number[] = [];
  const skipped: [number, number][] = [];
  let dueAt = at(first);
  while (dueAt <= at(now)) {
    const step = firingStep({ times, missed, dueAt }, at(now));
    if (step.action === 'fire') fired.push(toSecond(step.dueAt));
    else skipped.push([toSecond(step.dueAt), toSecond(step.through)]);
    if (!step.next) break;
    dueAt = step.next;
  }
  return { fired, skipped, next: toSecond(dueAt) };
}

describe('firingStep', () => {
  it('fires a due time that has just come, with every policy', () => {
    for (const missed of ['skip', 'once', 'all'] as const) {
      expect(stepsUpTo(3_601, { seconds: 3_600, missed, first: 3_600 })).toEqual({
        fired: [3_600],
        skipped: [],
        next: 7_200,
      });
    }
  });

  it('skips a due time that is more than a minute old, if missed ones are skipped', () => {
    const about = { seconds: 3_600, first: 3_600 };

    expect(stepsUpTo(3_660, { ...about, missed: 'skip' }).fired).toEqual([3_600]);
    expect(stepsUpTo(3_661, { ...about, missed: 'skip' })).toMatchObject({ fired: [], skipped: [[3_600, 3_600]] });
    expect(stepsUpTo(3_661, { ...about, missed: 'once' }).fired).toEqual([3_600]);
  });

  it('makes up for the newest of several, for all, or for none', () => {
    const about = { seconds: 3_600, first: 3_600 };

    expect(stepsUpTo(15_000, { ...about, missed: 'skip' })).toMatchObject({
      fired: [],
      skipped: [
        [3_600, 10_800],
        [14_400, 14_400],
      ],
    });
    expect(stepsUpTo(15_000, { ...about, missed: 'once' })).toMatchObject({
      fired: [14_400],
      skipped: [[3_600, 10_800]],
    });
    expect(stepsUpTo(15_000, { ...about, missed: 'all' }).fired).toEqual([3_600, 7_200, 10_800, 14_400]);
  });

  it('makes up for the newest hundred at most', () => {
    const { fired, skipped } = stepsUpTo(1_000_000, { seconds: 60, missed: 'all', first: 60 });

    expect([fired.length, fired.at(-1)]).toEqual([100, 999_960]);
    expect(skipped).toEqual([[60, (fired[0] ?? 0) - 60]]);
  });

  it('fires or skips every due time, once and in order', () => {
    const minutes = fc.integer({ min: 1, max: 30 }).map((minute) => minute * 20);
    const policy = fc.constantFrom<MissedPolicy>('skip', 'once', 'all');
    fc.assert(
      fc.property(minutes, policy, fc.integer({ min: 0, max: 20_000 }), (seconds, missed, late) => {
        const { fired, skipped, next } = stepsUpTo(seconds + late, { seconds, missed, first: seconds });

        const handled = [...fired, ...skipped.flatMap(([from, to]) => range(from, to, seconds))].sort((a, b) => a - b);
        expect(handled).toEqual(range(seconds, next - seconds, seconds));
        expect(next).toBeGreaterThan(seconds + late);
        expect(fired).toEqual([...fired].sort((a, b) => a - b));
      }),
    );
  });
});

const range = (from: number, to: number, step: number): number[] =>
  Array.from({ length: (to - from) / step + 1 }, (_, index) => from + index * step);
