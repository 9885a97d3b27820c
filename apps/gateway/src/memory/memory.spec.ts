import type { MemoryEntry, MemoryStore, MemoryVersion } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();
let key: string;
beforeEach(async () => void (key = await gateway.toKey('an account')));

const create = async (given: object = {}): Promise<MemoryStore> =>
  (
    await gateway
      .as(key)
      .post('/v1/memory-stores')
      .send({ name: 'notes', ...given })
      .expect(201)
  ).body as MemoryStore;
const at = ({ id }: MemoryStore, rest = '') => `/v1/memory-stores/${id}${rest}`;
const write = (store: MemoryStore, path: string, body: object) =>
  gateway.as(key).put(at(store, '/entry')).query({ path }).send(body);
const written = async (store: MemoryStore, path: string, content: string) =>
  (await write(store, path, { content }).expect(200)).body as MemoryEntry;
const read = async (path: string) => (await gateway.as(key).get(path).expect(200)).body;
const readPaths = async (path: string): Promise<string[]> =>
  ((await read(path)).data as MemoryVersion[]).map((version) => version.path);

describe('a memory store', () => {
  it('is of the account, a project, an agent or a user, each with the same name once', async () => {
    const { body: project } = await gateway.as(key).post('/v1/projects').send({ name: 'P' }).expect(201);
    const agent = { definition: { name: 'writer' } };
    const { body: made } = await gateway.as(key).post('/v1/agents').send(agent).expect(201);
    const scopes = [{}, { project_id: project.id }, { agent_id: made.id }, { user: 'ann' }];

    const stores = await Promise.all(scopes.map(create));

    for (const scope of scopes) {
      const { body } = await gateway
        .as(key)
        .post('/v1/memory-stores')
        .send({ name: 'notes', ...scope })
        .expect(409);
      expect(body.code).toBe('memory_store_name_taken');
    }
    expect(await read(at(stores[3] as MemoryStore))).toMatchObject({ user: 'ann', project_id: null, entry_count: 0 });
    expect((await read('/v1/memory-stores')).data).toHaveLength(4);
    expect((await read('/v1/memory-stores?user=ann&name=notes')).data).toEqual([stores[3]]);
    const refuse = async (given: object) =>
      (
        await gateway
          .as(key)
          .post('/v1/memory-stores')
          .send({ name: 'notes', ...given })
      ).body.code;
    expect(await refuse({ user: 'ann', project_id: project.id })).toBe('invalid_request');
    expect(await refuse({ name: 'My Notes' })).toBe('invalid_request');
    expect(await refuse({ agent_id: 'agt_none' })).toBe('agent_not_found');
    await gateway.as(key).delete(`/v1/agents/${made.id}`).expect(204);
    await gateway
      .as(key)
      .get(at(stores[2] as MemoryStore))
      .expect(404);
  });

  it('of another account does not exist', async () => {
    const store = await create();
    await written(store, 'a.md', 'A');
    const stranger = gateway.as(await gateway.toKey('a stranger'));

    for (const path of ['', '/entries', '/search?query=a', '/entry?path=a.md', '/entry/versions?path=a.md'])
      expect((await stranger.get(at(store, path)).expect(404)).body.code).toBe('memory_store_not_found');
    await stranger.put(at(store, '/entry?path=a.md')).send({ content: 'B' }).expect(404);
    await stranger.delete(at(store, '/entry?path=a.md')).expect(404);
    await stranger.delete(at(store)).expect(404);
    expect((await read(at(store, '/entry?path=a.md'))).content).toBe('A');
  });

  it('is deleted with all of it, which is in the audit log', async () => {
    const store = await create();
    await written(store, 'a.md', 'A');
    await gateway.as(key).delete(at(store, '/entry?path=a.md')).expect(204);
    await written(store, 'b.md', 'B');

    await gateway.as(key).delete(at(store)).expect(204);

    const acts = ((await read('/v1/audit')).data as { action: string; target: string }[]).map(
      ({ action, target }) => `${action} ${target}`,
    );
    expect(acts).toEqual([
      `memory_store.delete ${store.id}`,
      `memory_entry.write ${store.id}`,
      `memory_entry.delete ${store.id}`,
      `memory_entry.write ${store.id}`,
      `memory_store.create ${store.id}`,
    ]);
    const rows = await gateway.ownerDatabase.sql.query('select 1 from memory_versions where store_id = $1', [store.id]);
    expect(rows).toEqual([]);
  });
});

describe('an entry', () => {
  it('has versions, each with who wrote it', async () => {
    const store = await create();
    const first = await written(store, 'people/ann.md', 'Likes tea.');
    await written(store, 'b.md', 'B');
    const second = await written(store, 'people/ann.md', 'Likes coffee.');
    const same = await written(store, 'people/ann.md', 'Likes coffee.');

    expect([first.version, second.version, same.version]).toEqual([1, 3, 3]);
    expect(second.written_by).toEqual({
      caller_id: expect.stringMatching(/^key_/),
      run_id: null,
      tool_call_id: null,
      seq: null,
    });
    const { data } = await read(at(store, '/entry/versions?path=people/ann.md'));
    expect((data as MemoryVersion[]).map(({ version, size }) => [version, size])).toEqual([
      [3, 13],
      [1, 10],
    ]);
    expect(await read(at(store, '/entry?path=people/ann.md&version=1'))).toEqual(first);
    await gateway.as(key).get(at(store, '/entry?path=people/ann.md&version=2')).expect(404);
    expect(await read(at(store))).toMatchObject({ entry_count: 2, size: 24 });
  });

  it('is written and deleted only in the version that the writer knows', async () => {
    const store = await create();
    await write(store, 'a.md', { content: 'one', if_version: 0 }).expect(200);
    const { body: refused } = await write(store, 'a.md', { content: 'two', if_version: 0 }).expect(409);
    expect(refused).toMatchObject({ code: 'memory_entry_changed', detail: 'a.md has version 1 now, not version 0.' });

    const both = await Promise.all(['two', 'three'].map((content) => write(store, 'a.md', { content, if_version: 1 })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await gateway.as(key).delete(at(store, '/entry?path=a.md&if_version=1')).expect(409);
    await gateway.as(key).delete(at(store, '/entry?path=a.md&if_version=2')).expect(204);
    await gateway.as(key).delete(at(store, '/entry?path=a.md')).expect(404);
    await gateway.as(key).get(at(store, '/entry?path=a.md&version=1')).expect(404);
    expect((await written(store, 'a.md', 'again')).version).toBe(3);
  });

  it('keeps its newest 20 versions', async () => {
    const store = await create();
    for (let version = 1; version <= 22; version += 1) await written(store, 'a.md', `${version}`);

    const first = await read(at(store, '/entry/versions?path=a.md&limit=15'));
    const rest = await read(at(store, `/entry/versions?path=a.md&after=${first.next_cursor}`));
    const kept = [...first.data, ...rest.data] as MemoryVersion[];
    expect(kept.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, index) => 22 - index));
  });

  it('is found by its path and by its words', async () => {
    const store = await create();
    await written(store, 'people/ann.md', 'Ann drinks green tea in the morning.');
    await written(store, 'people/bob.md', 'Bob drinks coffee.');
    await written(store, 'Zoo.md', 'Elephants.');

    expect(await readPaths(at(store, '/entries'))).toEqual(['Zoo.md', 'people/ann.md', 'people/bob.md']);
    expect(await readPaths(at(store, '/entries?prefix=people/'))).toEqual(['people/ann.md', 'people/bob.md']);
    const page = await read(at(store, '/entries?limit=2'));
    expect(await readPaths(at(store, `/entries?after=${page.next_cursor}`))).toEqual(['people/bob.md']);
    expect(await readPaths(at(store, '/search?query=drinks -coffee'))).toEqual(['people/ann.md']);
    expect(await readPaths(at(store, '/search?query="green tea"'))).toEqual(['people/ann.md']);
    expect(await readPaths(at(store, '/search?query=bob'))).toEqual(['people/bob.md']);
    expect((await read(at(store, '/search?query=tea'))).data[0].excerpt).toContain('green tea');
    await written(store, 'people/ann.md', 'Ann drinks water.');
    expect(await readPaths(at(store, '/search?query=tea'))).toEqual([]);
  });

  it.each([
    ['a path out of the store', '../a', 'A', 'path'],
    ['an absolute path', '/etc/passwd', 'A', 'path'],
    ['an empty part', 'a//b', 'A', 'path'],
    ['a control character', 'a\u0007b', 'A', 'path'],
    ['a path that is too long', 'a'.repeat(241), 'A', 'path'],
    ['a text that is too long', 'a.md', 'x'.repeat(64 * 1024 + 1), 'content'],
    ['too many bytes', 'a.md', 'ü'.repeat(40_000), 'content'],
    ['a text with U+0000', 'a.md', 'a\0b', 'content'],
  ])('with %s is refused by its field, once', async (_, path, content, field) => {
    const store = await create();

    const { body } = await write(store, path, { content }).expect(422);

    expect(body.errors).toEqual([{ field, message: expect.any(String) }]);
  });

  it('beyond the limits of its store is refused', async () => {
    const store = await create();
    await gateway.ownerDatabase.sql.query(
      `insert into memory_entries (store_id, path, version, words) select $1, 'e' || n, n, '' from generate_series(1, 1000) as n`,
      [store.id],
    );
    expect((await write(store, 'a.md', { content: 'A' }).expect(422)).body.code).toBe('memory_quota_exceeded');
    const full = await create({ name: 'full' });
    await gateway.ownerDatabase.sql.query('update memory_stores set size = 8 * 1024 * 1024 where id = $1', [full.id]);
    expect((await write(full, 'a.md', { content: 'A' }).expect(422)).body.detail).toContain('8388608 bytes');
  });
});
