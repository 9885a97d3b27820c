import { type AccountId, type InputBlock, messageId, sha256, threadId } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { Sandboxes } from './sandboxes';
import { StoreFixture, completed, nextId, newAccount, textInput, reply, started } from '../testing/store-fixture';

let fixture: StoreFixture;
let stranger: AccountId;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  stranger = await newAccount(fixture.database);
});
afterAll(() => fixture.close());

const thread = (metadata = {}) => fixture.threads.create({ accountId: fixture.accountId, metadata });

describe('Threads and their messages', () => {
  it('belong to one account', async () => {
    const { threads, messages } = fixture;
    const { id } = await thread();
    const address = { accountId: stranger, threadId: id };
    const attempts = [
      threads.get(address),
      threads.delete(address),
      messages.add({ ...address, content: textInput('Hi.') }),
      messages.list({ ...address, limit: 10 }),
      messages.forNextRun(address),
    ];

    for (const { status, ...rest } of await Promise.allSettled(attempts)) {
      expect({ status, ...rest }).toMatchObject({ status: 'rejected', reason: { code: 'thread_not_found' } });
    }
    expect((await threads.list({ accountId: stranger, limit: 10 })).data).toEqual([]);
  });

  it('list threads newest first and messages in their order, a page at a time', async () => {
    const { threads, messages, accountId } = fixture;
    const [first, second] = [await thread({ n: 1 }), await thread({ n: '\0\ud800' })];
    const page = await threads.list({ accountId, limit: 1 });
    const next = await threads.list({ accountId, limit: 1, after: page.next_cursor ?? '' });
    expect([...page.data, ...next.data]).toEqual([second, first]);

    for (const text of ['a', 'b', 'c']) await messages.add({ accountId, threadId: first.id, content: textInput(text) });
    const start = await messages.list({ accountId, threadId: first.id, limit: 2 });
    const rest = await messages.list({ accountId, threadId: first.id, limit: 2, after: start.next_cursor ?? '' });
    expect([...start.data, ...rest.data].map(({ seq, content }) => [seq, content])).toEqual(
      ['a', 'b', 'c'].map((text, index) => [index + 1, textInput(text)]),
    );

    const newest = { accountId, threadId: first.id, limit: 2, order: 'desc' } as const;
    const end = await messages.list(newest);
    const before = await messages.list({ ...newest, after: end.next_cursor ?? '' });
    expect([end, before].map(({ data }) => data.map(({ seq }) => seq))).toEqual([[3, 2], [1]]);
    expect(before.has_more).toBe(false);
  });

  it('get several messages together or not at all, also where others with the same images come at once', async () => {
    const { messages, accountId } = fixture;
    const address = { accountId, threadId: (await thread()).id };
    const image = (width: number): InputBlock[] => [
      { type: 'image', source: { ...pngSource({ width }), width, height: 3 } },
    ];
    const orders = [1, 2, 3, 4, 5, 6].flatMap((width) => [
      [image(width), image(100 + width)],
      [image(100 + width), image(width)],
    ]);

    const added = await Promise.all(orders.map((contents) => messages.addAll({ ...address, contents })));

    expect(added.flat()).toHaveLength(24);
    const blob = { sha256: sha256.parse('a'.repeat(64)), media_type: 'image/png', width: 2, height: 3 } as const;
    const unknown: InputBlock = { type: 'image', source: { type: 'blob', ...blob } };
    await expect(messages.addAll({ ...address, contents: [textInput('Kept?'), [unknown]] })).rejects.toMatchObject({
      code: 'unknown_blob',
    });
    expect((await messages.list({ ...address, limit: 100 })).data).toHaveLength(24);
  });

  it('say when a title, metadata or sharing was last changed, and nothing else counts', async () => {
    const { threads, messages, accountId } = fixture;
    const created = await thread({ customer: 'c-7' });
    const address = { accountId, threadId: created.id };
    expect(created.updated_at).toBe(created.created_at);
    await messages.add({ ...address, content: textInput('Hi.') });
    expect((await threads.get(address)).updated_at).toBe(created.created_at);

    let last = created.updated_at;
    for (const change of [{ title: 'One' }, { metadata: { order: '8' } }, { isPublic: true }, { title: null }]) {
      const { updated_at: at } = await threads.update({ ...address, ...change });
      expect(at >= last).toBe(true);
      last = at;
    }
    expect(last > created.created_at).toBe(true);
    const metadata = { order: '8' };
    expect(await threads.get(address)).toMatchObject({ title: null, metadata, is_public: true, updated_at: last });
    await expect(threads.update({ ...address, accountId: stranger, title: 'Mine' })).rejects.toMatchObject({
      code: 'thread_not_found',
    });
  });

  it('refuse a cursor that points into another thread', async () => {
    const { messages, accountId } = fixture;
    const [here, there] = [await thread(), await thread()];
    const { id } = await messages.add({ accountId, threadId: there.id, content: textInput('Hi.') });

    for (const cursor of [id, messageId.parse('msg_none'), 'x']) {
      const after = Buffer.from(cursor).toString('base64url');
      await expect(messages.list({ accountId, threadId: here.id, limit: 2, after })).rejects.toMatchObject({
        code: 'invalid_cursor',
      });
    }
  });

  it('filter messages by type and by what the model may see', async () => {
    const { messages, accountId } = fixture;
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [reply(claim, 'Hello.')]);
    const filter = { accountId, threadId: claim.threadId, limit: 10 };

    expect((await messages.list({ ...filter, type: 'assistant' })).data).toHaveLength(1);
    expect((await messages.list({ ...filter, llmOnly: true })).data).toHaveLength(2);
  });

  it('disappear with their runs when deleted, which waits until no run is active', async () => {
    const { threads, runs, accountId } = fixture;
    const claim = await fixture.claimed();
    const address = { accountId, threadId: claim.threadId };
    await expect(threads.delete(address)).rejects.toMatchObject({ code: 'thread_busy', activeRunId: claim.runId });

    await fixture.store.append(claim, [started, completed]);
    await threads.delete(address);

    await expect(threads.get(address)).rejects.toMatchObject({ code: 'thread_not_found' });
    await expect(runs.get({ accountId, runId: claim.runId })).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

describe('Sandboxes', () => {
  it('keep the first executor that took a thread', async () => {
    const sandboxes = new Sandboxes(fixture.database, nextId);
    const { id } = await thread();

    const places = await Promise.all(Array.from({ length: 5 }, (_, index) => sandboxes.keep(id, `executor-${index}`)));

    expect(new Set(places).size).toBe(1);
    expect(await sandboxes.keep(id, 'executor-late')).toBe(places[0]);
    await expect(sandboxes.keep(threadId.parse('thr_none'), 'executor-1')).rejects.toThrow();
  });

  it('are told to one worker at a time once their thread is deleted, and until they are forgotten', async () => {
    const sandboxes = new Sandboxes(fixture.database, nextId);
    const [{ id: kept }, { id: deleted }] = [await thread(), await thread()];
    for (const id of [kept, deleted]) await sandboxes.keep(id, 'executor-1');
    await fixture.threads.delete({ accountId: fixture.accountId, threadId: deleted });

    const told = await Promise.all([sandboxes.claimDeleted(), sandboxes.claimDeleted()]);
    expect(told.flat()).toEqual([{ threadId: deleted, executorId: 'executor-1' }]);

    await fixture.database.sql.query(`update sandboxes set vacate_at = vacate_at - interval '1 minute'`);
    expect(await sandboxes.claimDeleted()).toHaveLength(1);

    await sandboxes.forget([kept, deleted]);
    const left = await fixture.database.sql.query('select thread_id from sandboxes where thread_id = any($1)', [
      [kept, deleted],
    ]);
    expect(left).toEqual([{ thread_id: kept }]);
  });
});
