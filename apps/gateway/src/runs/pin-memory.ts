import type { RunMemoryStore, RunSettings } from '@rondo/contract';
import type { MemoryEntries, MemoryStores } from '@rondo/persistence';
import { InvalidRequest } from '../problems/api-error';
import { type NamingRequest, findNamed } from './pin-skills';

type RunPlace = Parameters<MemoryStores['findForRun']>[0];

export interface MemoryReads {
  readonly stores: Pick<MemoryStores, 'findForRun'>;
  readonly entries: Pick<MemoryEntries, 'list'>;
}

/** What the list of entries may take of each request, in characters: about 2,500 tokens. */
const indexCharacters = 10_000;
const mostListed = 200;

/**
 * The stores that the run has from now on, by name: those of the request, or of its agent, each with the entries that its prompt
 * lists. Throws InvalidRequest with the fields of those that there are not.
 */
export async function pinMemory(
  { stores, entries }: MemoryReads,
  place: RunPlace,
  request: NamingRequest,
): Promise<Pick<RunSettings, 'memory'>> {
  const [field, named = []] = findNamed(request, 'memory');
  if (named.length === 0) return {};
  const found = await stores.findForRun(
    place,
    named.map(({ store }) => store),
  );
  const known = new Map<string, (typeof found)[number]>(found.map((store) => [store.name, store]));
  const missing = named.flatMap(({ store }, index) =>
    known.has(store) ? [] : [{ field: `${field}.${index}`, message: `there is no memory store named "${store}"` }],
  );
  if (missing.length > 0) throw new InvalidRequest(missing);
  const policies = new Map(named.map(({ store, policy }) => [store, policy ?? 'ask']));
  const pinned = found.map(async ({ id, name, description, entry_count }) => {
    const { data } = await entries.list({ accountId: place.accountId, memoryStoreId: id, limit: mostListed });
    const listed = toIndex(data, Math.floor(indexCharacters / found.length));
    return { id, name, description, policy: policies.get(name) ?? 'ask', entry_count, entries: listed };
  });
  return { memory: await Promise.all(pinned) };
}

/** The first of them that fit. */
function toIndex(entries: readonly RunMemoryStore['entries'][number][], characters: number): RunMemoryStore['entries'] {
  let left = characters;
  const listed = entries.map(({ path, size, version }) => ({ path, size, version }));
  const end = listed.findIndex(({ path }) => (left -= path.length + 30) < 0);
  return end < 0 ? listed : listed.slice(0, end);
}
