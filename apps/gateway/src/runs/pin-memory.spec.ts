import { type MemoryVersion, accountId } from '@rondo/contract';
import { type MemoryReads, pinMemory } from './pin-named';

const store = (name: string) => ({ id: `mem_${name}`, name, description: `About ${name}.`, entry_count: 2 });
type Found = Awaited<ReturnType<MemoryReads['stores']['findForRun']>>;
type Listed = Awaited<ReturnType<MemoryReads['entries']['list']>>;

const toReads = (entries: readonly Partial<MemoryVersion>[]): MemoryReads => ({
  stores: {
    findForRun: (_, names) =>
      Promise.resolve(['notes', 'people'].filter((name) => names.includes(name)).map(store) as unknown as Found),
  },
  entries: { list: () => Promise.resolve({ data: entries, has_more: false, next_cursor: null } as Listed) },
});
const pin = (
  overrides: object,
  { definition = undefined as object | undefined, entries = [] as Partial<MemoryVersion>[] } = {},
) =>
  pinMemory(toReads(entries), { accountId: accountId.parse('acc_someone') }, { overrides, definition } as Parameters<
    typeof pinMemory
  >[2]);

describe('pinMemory', () => {
  it('keeps the stores of the request, or of its agent, with their policies', async () => {
    const definition = { memory: [{ store: 'people' }] };
    const policies = async (...given: Parameters<typeof pin>) =>
      (await pin(...given)).memory?.map(({ name, policy }) => [name, policy]);

    expect(await policies({}, { definition })).toEqual([['people', 'ask']]);
    expect(await policies({ memory: [{ store: 'notes', policy: 'deny' }] }, { definition })).toEqual([
      ['notes', 'deny'],
    ]);
    expect(await pin({ memory: [] }, { definition })).toEqual({});
  });

  it('lists as many entries as fit into a prompt, without who wrote them', async () => {
    const entries = Array.from({ length: 200 }, (_, n) => ({
      path: `${n}`.padStart(170, 'p'),
      size: 1,
      version: n + 1,
      seq: 1,
    }));

    const [pinned] = (await pin({ memory: [{ store: 'notes' }] }, { entries })).memory ?? [];

    expect(pinned?.entries).toHaveLength(50);
    expect(pinned?.entries[0]).toEqual({ path: '0'.padStart(170, 'p'), size: 1, version: 1 });
  });

  it('refuses a store that there is not, by field', async () => {
    await expect(pin({ memory: [{ store: 'notes' }, { store: 'gone' }] })).rejects.toThrow(
      'memory.1: there is no memory store named "gone"',
    );
  });
});
