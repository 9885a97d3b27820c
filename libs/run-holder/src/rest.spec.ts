import { Rest } from './rest';

function fixture() {
  let now = 0;
  let wake = () => {};
  const state = { isHeard: true, isAhead: false, worked: 0 };
  const rest = new Rest({
    signal: {
      get isHeard() {
        return state.isHeard;
      },
      onWork: (listener) => (wake = listener),
    },
    work: { within: () => Promise.resolve(state.isAhead) },
    nowMs: () => now,
  });
  const work = rest.unlessResting(() => Promise.resolve((state.worked += 1)));
  /** Whether the task does its work then. */
  const worksAt = async (ms: number) => {
    now = ms;
    const before = state.worked;
    await work();
    return state.worked > before;
  };
  const lookAt = async (ms: number) => {
    now = ms;
    await rest.task.work();
  };
  return { rest, state, worksAt, lookAt, wake: () => wake() };
}

describe('Rest', () => {
  it('begins after a look that found nothing, and ends unless the next one finds nothing either', async () => {
    const { worksAt, lookAt } = fixture();

    expect(await worksAt(19_000)).toBe(true);
    await lookAt(20_000);
    expect(await worksAt(21_000)).toBe(false);
    await lookAt(30_000);
    expect(await worksAt(42_000)).toBe(false);
    expect(await worksAt(43_000)).toBe(true);
  });

  it('does not begin in the first seconds of a process, nor after a signal of work', async () => {
    const { worksAt, lookAt, wake } = fixture();
    await lookAt(10_000);
    expect(await worksAt(14_000)).toBe(true);
    await lookAt(20_000);
    expect(await worksAt(20_000)).toBe(false);

    wake();
    await lookAt(30_000);
    expect(await worksAt(34_000)).toBe(true);
    expect(await worksAt(36_000)).toBe(false);
  });

  it('ends when a look finds work, and while signals may be missed', async () => {
    const { state, worksAt, lookAt } = fixture();
    await worksAt(0);
    await lookAt(20_000);
    state.isHeard = false;
    expect(await worksAt(21_000)).toBe(true);
    state.isHeard = true;
    expect(await worksAt(22_000)).toBe(false);

    state.isAhead = true;
    await lookAt(30_000);
    expect(await worksAt(30_000)).toBe(true);
  });

  it('executes each task once a minute all the same', async () => {
    const { worksAt, lookAt } = fixture();
    await worksAt(19_000);
    await lookAt(75_000);

    expect(await worksAt(78_000)).toBe(false);
    expect(await worksAt(79_000)).toBe(true);
    expect(await worksAt(80_000)).toBe(false);
  });
});
