import { FairSlots, type SlotUser, SlotsClosed } from './fair-slots';

const never = new AbortController().signal;
const settled = () => new Promise(setImmediate);
const user = (account: string, thread = account): SlotUser => ({ account, thread });

/** Work that runs until `end`. */
function job() {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const work = jest.fn(() => over);
  return { work, end, hasBegun: () => work.mock.calls.length > 0 };
}

/** Requests a slot for each user, in this order. */
async function queue(slots: FairSlots, ...users: SlotUser[]) {
  const jobs = users.map(() => job());
  jobs.forEach(({ work }, index) => void slots.run(users[index] ?? user(''), never, work));
  await settled();
  return { jobs, begun: () => jobs.map((one) => one.hasBegun()) };
}

describe('FairSlots', () => {
  it('runs as many jobs as there are slots, and the others of an account in order of arrival', async () => {
    const slots = new FairSlots({ total: 2, perAccount: 2, perThread: 2 });
    const { jobs, begun } = await queue(slots, user('a'), user('a'), user('a'), user('a'));
    expect(begun()).toEqual([true, true, false, false]);
    expect([slots.inUse, slots.waiting]).toEqual([2, 2]);

    jobs[1]?.end();
    await settled();

    expect(begun()).toEqual([true, true, true, false]);
    expect([slots.inUse, slots.waiting]).toEqual([2, 1]);
  });

  it('gives a free slot to waiting work before new work', async () => {
    const slots = new FairSlots({ total: 1, perAccount: 1, perThread: 1 });
    const { jobs, begun } = await queue(slots, user('a'), user('a'));
    jobs[0]?.end();
    await settled();
    const late = await queue(slots, user('a'));

    expect([...begun(), ...late.begun()]).toEqual([true, true, false]);
  });

  it('keeps slots free beyond the limit of an account', async () => {
    const slots = new FairSlots({ total: 4, perAccount: 2, perThread: 2 });

    const { begun } = await queue(slots, user('a'), user('a'), user('a'), user('b'));

    expect(begun()).toEqual([true, true, false, true]);
  });

  it('does not let a thread at its limit block another thread of its account', async () => {
    const slots = new FairSlots({ total: 4, perAccount: 3, perThread: 1 });
    const { jobs, begun } = await queue(slots, user('a', 'one'), user('a', 'one'), user('a', 'two'));
    expect(begun()).toEqual([true, false, true]);

    jobs[0]?.end();
    await settled();

    expect(begun()).toEqual([true, true, true]);
  });

  it('serves the account with the fewest slots first', async () => {
    const slots = new FairSlots({ total: 3, perAccount: 3, perThread: 3 });
    const { jobs, begun } = await queue(slots, user('a'), user('a'), user('b'), user('a'), user('b'), user('c'));

    for (const index of [0, 1]) {
      jobs[index]?.end();
      await settled();
    }

    expect(begun()).toEqual([true, true, true, true, false, true]);
  });

  it('alternates between accounts with equally many slots', async () => {
    const slots = new FairSlots({ total: 1, perAccount: 1, perThread: 1 });
    const { jobs, begun } = await queue(slots, ...['x', 'a', 'a', 'a', 'b', 'b'].map((name) => user(name)));
    const order: number[] = [];

    for (let turn = 0; turn < 5; turn += 1) {
      jobs[order.at(-1) ?? 0]?.end();
      await settled();
      order.push(begun().findIndex((isIt, index) => isIt && index > 0 && !order.includes(index)));
    }

    expect(order).toEqual([1, 4, 2, 5, 3]);
  });

  it('runs aborted work without a slot', async () => {
    const slots = new FairSlots({ total: 1, perAccount: 1, perThread: 1 });
    const [first, waiting, next, last] = [job(), job(), job(), job()];
    const abort = new AbortController();
    void slots.run(user('a'), never, first.work);
    const stopped = slots.run(user('b'), abort.signal, waiting.work);
    void slots.run(user('a'), AbortSignal.abort(), next.work);

    abort.abort();
    await settled();
    expect([waiting.hasBegun(), next.hasBegun()]).toEqual([true, true]);

    waiting.end();
    await stopped;
    void slots.run(user('b'), never, last.work);
    await settled();
    expect(last.hasBegun()).toBe(false);
    expect([slots.inUse, slots.waiting]).toEqual([1, 1]);
  });

  it('frees the slot of work that failed', async () => {
    const slots = new FairSlots({ total: 1, perAccount: 1, perThread: 1 });
    await expect(slots.run(user('a'), never, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');

    expect(await slots.run(user('a'), never, () => Promise.resolve('done'))).toBe('done');
  });

  it('rejects waiting and new requests once it is closed, and lets running work finish', async () => {
    const slots = new FairSlots({ total: 1, perAccount: 1, perThread: 1 });
    const first = job();
    const running = slots.run(user('a'), never, first.work);
    const waiting = [user('a'), user('a'), user('b')].map((who) => slots.run(who, never, () => Promise.resolve('ran')));

    slots.close();

    for (const refused of waiting) await expect(refused).rejects.toBeInstanceOf(SlotsClosed);
    await expect(slots.run(user('c'), never, () => Promise.resolve())).rejects.toBeInstanceOf(SlotsClosed);
    first.end();
    await running;
    expect([slots.inUse, slots.waiting]).toEqual([0, 0]);
  });
});
