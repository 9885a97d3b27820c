import type { CallId, MemoryEntry, MemoryStoreId, RunId } from '@rondo/contract';
import type { MemoryAnswer, MemoryWrite, RunMemory } from '../ports';

/** One store, with the versions of each path. */
class Store {
  readonly versions: MemoryEntry[] = [];
  version = 0;

  newest(path: string): MemoryEntry | undefined {
    return this.versions.findLast((one) => one.path === path);
  }

  paths(): string[] {
    return [...new Set(this.versions.map(({ path }) => path))].sort();
  }
}

/** Stores that exist as soon as one of these is asked for them. */
export class InMemoryRunMemory implements RunMemory {
  private readonly stores = new Map<MemoryStoreId, Store>();

  constructor(
    private readonly runId: RunId,
    ids: readonly MemoryStoreId[],
  ) {
    for (const id of ids) this.stores.set(id, new Store());
  }

  list(id: MemoryStoreId) {
    return this.in(id, (store) => done(store.paths().flatMap((path) => store.newest(path) ?? [])));
  }

  read(id: MemoryStoreId, path: string) {
    return this.in(id, (store) => {
      const entry = store.newest(path);
      return entry ? done(entry) : refused(`There is no entry ${path}.`);
    });
  }

  search(id: MemoryStoreId, query: string) {
    return this.in(id, (store) => {
      const entries = store.paths().flatMap((path) => store.newest(path) ?? []);
      const found = entries.filter(({ content }) => content.toLowerCase().includes(query.toLowerCase()));
      return done(found.map((entry) => ({ ...entry, excerpt: entry.content })));
    });
  }

  write(id: MemoryStoreId, { path, content, ifVersion, callId }: MemoryWrite) {
    return this.in<MemoryEntry>(id, (store) => {
      const written = store.versions.find(({ written_by: by }) => by.tool_call_id === callId);
      const known = store.newest(path);
      if (written) return done(written);
      if (ifVersion !== undefined && ifVersion !== (known?.version ?? 0))
        return refused(changed(path, known, ifVersion));
      if (known?.content === content) return done(known);
      const entry = this.toEntry({ path, content, callId }, (store.version += 1));
      store.versions.push(entry);
      return done(entry);
    });
  }

  delete(id: MemoryStoreId, { path, version }: { readonly path: string; readonly version: number }) {
    return this.in<undefined>(id, (store) => {
      const known = store.newest(path);
      if (known && known.version !== version) return refused(changed(path, known, version));
      const kept = store.versions.filter((one) => one.path !== path);
      store.versions.splice(0, store.versions.length, ...kept);
      return done(undefined);
    });
  }

  /** Has the store hold a version that another than the run wrote. */
  async seed(id: MemoryStoreId, entry: MemoryEntry): Promise<void> {
    await this.in(id, (store) => {
      store.versions.push(entry);
      return done((store.version = entry.version));
    });
  }

  private in<Value>(id: MemoryStoreId, use: (store: Store) => MemoryAnswer<Value>): Promise<MemoryAnswer<Value>> {
    const store = this.stores.get(id);
    return Promise.resolve(store ? use(store) : refused(`There is no memory store ${id}.`));
  }

  private toEntry({ path, content, callId }: { path: string; content: string; callId: CallId }, version: number) {
    const written_by = { caller_id: null, run_id: this.runId, tool_call_id: callId, seq: null };
    const size = new TextEncoder().encode(content).length;
    return { path, version, size, written_by, created_at: '2026-11-25T09:00:00.000Z', content };
  }
}

const done = <Value>(value: Value): MemoryAnswer<Value> => ({ how: 'done', value });
const refused = (reason: string): MemoryAnswer<never> => ({ how: 'refused', reason });

const changed = (path: string, known: MemoryEntry | undefined, version: number): string =>
  `${path} ${known ? `has version ${known.version} now` : 'does not exist now'}, not version ${version}.`;
