import fc from 'fast-check';
import { checkSchedules, describeFailure } from './check-schedules';
import { anySchedule } from './schedule';
import { World } from './world';

/** The test takes seconds of CPU, and minutes on a busy machine. */
jest.setTimeout(600_000);

/** The same worlds in every test run; `npm run simulate` tries new ones. */
const seed = 1;

it('keeps every promise in 1000 schedules of crashes, delays, duplicates and losses (I1–I10, I13)', async () => {
  const { failure, searched, figures, ends } = await checkSchedules({ schedules: 1_000, seed });

  if (failure) throw new Error(describeFailure(failure));
  expect(searched).toBe(1_000);
  expect(figures.faultsStruck).toBeGreaterThan(2_000);
  expect(figures.refusedWrites).toBeGreaterThan(50);
  expect(ends).toMatchObject({ stop: expect.any(Number), complete: expect.any(Number), stopped: expect.any(Number) });
});

it('produces the same journal for the same schedule, byte for byte', async () => {
  for (const schedule of fc.sample(anySchedule, { numRuns: 10, seed })) {
    const [first, second] = [await new World(schedule).run(), await new World(schedule).run()];

    expect(second.journal.join('\n')).toBe(first.journal.join('\n'));
    expect(first.journal.length).toBeGreaterThan(0);
  }
});
