import { type Progress, workThrough } from './work-through';

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

it('does the work for each, a few at a time, and says what failed', async () => {
  const seen: Progress[] = [];
  let [active, most] = [0, 0];
  const work = async (id: string) => {
    most = Math.max(most, ++active);
    await Promise.resolve();
    active -= 1;
    if (id === 'c') throw new Error('busy');
  };

  const end = await workThrough(ids, work, { onProgress: (progress) => seen.push(progress) });

  expect(end).toEqual({ done: 5, of: 6, failed: [{ id: 'c', problem: new Error('busy') }] });
  expect(seen.at(-1)).toEqual(end);
  expect(seen).toHaveLength(6);
  expect(most).toBe(4);
});

it('begins nothing new once it is given up', async () => {
  const giveUp = new AbortController();
  const begun: string[] = [];
  const work = (id: string) => {
    begun.push(id);
    giveUp.abort();
    return Promise.resolve();
  };

  const end = await workThrough(ids, work, { onProgress: () => undefined, signal: giveUp.signal });

  expect(begun).toEqual(['a']);
  expect(end.done).toBe(1);
});
