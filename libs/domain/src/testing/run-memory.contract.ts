import { type MemoryStoreId, callId, memoryStoreId } from '@rondo/contract';
import type { MemoryAnswer, RunMemory } from '../ports';

const valueIn = <Value>(answer: MemoryAnswer<Value>): Value => {
  if (answer.how === 'refused') throw new Error(answer.reason);
  return answer.value;
};

/** What every RunMemory guarantees. That of the domain's tests and the one in Postgres pass the same tests. */
export const describeRunMemory = (
  implementation: string,
  open: () => Promise<{ readonly memory: RunMemory; readonly store: MemoryStoreId }>,
): void => {
  describe(`${implementation} as RunMemory`, () => {
    let memory: RunMemory;
    let store: MemoryStoreId;
    beforeEach(async () => ({ memory, store } = await open()));

    let calls = 0;
    const write = (
      path: string,
      content: string,
      { ifVersion, id = `n${(calls += 1)}` }: { ifVersion?: number; id?: string } = {},
    ) => memory.write(store, { path, content, ifVersion, callId: callId.parse(`call_${id}x${process.pid}`) });
    const listPaths = async () => valueIn(await memory.list(store)).map(({ path }) => path);

    it('reads, lists and finds what a call has written', async () => {
      await write('b.md', 'Ann likes green tea.');
      await write('a.md', 'Bob likes coffee.');

      expect(valueIn(await memory.read(store, 'b.md'))).toMatchObject({
        path: 'b.md',
        content: 'Ann likes green tea.',
      });
      expect(await listPaths()).toEqual(['a.md', 'b.md']);
      expect(valueIn(await memory.search(store, 'tea')).map(({ path }) => path)).toEqual(['b.md']);
    });

    it('answers a call that is made again with what it wrote, and writes nothing (I5)', async () => {
      const first = valueIn(await write('a.md', 'one', { id: 'again', ifVersion: 0 }));
      await write('a.md', 'two');

      expect(valueIn(await write('a.md', 'one', { id: 'again', ifVersion: 0 }))).toEqual(first);
      expect(valueIn(await memory.read(store, 'a.md')).content).toBe('two');
    });

    it('refuses to write and to delete another version than the one that is known', async () => {
      const { version } = valueIn(await write('a.md', 'one'));
      const newer = valueIn(await write('a.md', 'two', { ifVersion: version }));

      const stale = { how: 'refused', reason: `a.md has version ${newer.version} now, not version ${version}.` };
      expect(await write('a.md', 'three', { ifVersion: version })).toEqual(stale);
      expect(await memory.delete(store, { path: 'a.md', version })).toEqual(stale);
      expect(await memory.delete(store, { path: 'a.md', version: newer.version })).toMatchObject({ how: 'done' });
      expect(await memory.read(store, 'a.md')).toEqual({ how: 'refused', reason: 'There is no entry a.md.' });
    });

    it('deletes nothing that was written since, when a deletion is made again', async () => {
      const { version } = valueIn(await write('a.md', 'one'));
      await memory.delete(store, { path: 'a.md', version });

      expect(await memory.delete(store, { path: 'a.md', version })).toMatchObject({ how: 'done' });
      await write('a.md', 'new');
      expect(await memory.delete(store, { path: 'a.md', version })).toMatchObject({ how: 'refused' });
      expect(await listPaths()).toEqual(['a.md']);
    });

    it('refuses a store that there is not', async () => {
      const none = memoryStoreId.parse('mem_none');

      expect(await memory.list(none)).toEqual({ how: 'refused', reason: 'There is no memory store mem_none.' });
    });
  });
};
