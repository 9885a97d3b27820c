import { type InputBlock, inputContent, sha256 } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import fc from 'fast-check';
import { StoreFixture, completed, newAccount, textInput, started, waits } from '../../testing/store-fixture';
import { UnknownBlobError } from './message-images';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

type Source = Extract<InputBlock, { type: 'image' }>['source'];

const showing = (...sources: object[]): InputBlock[] =>
  inputContent.parse(sources.map((source) => ({ type: 'image', source })));

const inline = (more: Iterable<number> = []): Source & { type: 'base64' } => ({
  ...pngSource({}, more),
  width: 2,
  height: 3,
});

/** Whatever any table says, but for the blobs themselves. */
async function everythingStored(): Promise<string> {
  const tables = ['messages', 'run_events', 'runs', 'tool_calls', 'idempotency_keys'];
  const all = await Promise.all(
    tables.map((table) => fixture.database.sql.query<{ row: string }>(`select ${table}::text as row from ${table}`)),
  );
  return JSON.stringify(all);
}

const newThread = async () => (await fixture.threads.create({ accountId: fixture.accountId, metadata: {} })).id;

describe('images of people', () => {
  it('come back byte for byte, and no message holds them', async () => {
    const { accountId, messages, blobs } = fixture;
    const threadId = await newThread();

    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 500 }), async (more) => {
        const source = inline(more);
        const { content } = await messages.add({ accountId, threadId, content: showing(pngSource({}, more)) });

        const [block] = content;
        if (block?.type !== 'image' || block.source.type !== 'blob') throw new Error('not kept');
        expect(block.source).toMatchObject({ media_type: 'image/png', width: 2, height: 3 });
        const { mediaType, bytes } = await blobs.get({ accountId, sha256: block.source.sha256 });
        expect([mediaType, bytes.toString('base64')]).toEqual(['image/png', source.data]);
        expect(await everythingStored()).not.toContain(source.data);
      }),
      { numRuns: 30 },
    );
  });

  it('are blobs in whatever a run is told: its input, one that waits, an answer', async () => {
    const { accountId, runs, store } = fixture;
    const { data } = inline([1]);
    const first = await fixture.create({ input: showing(pngSource({}, [1])) });
    const { thread_id: threadId } = first.run;
    const second = await fixture.create({ threadId, onActiveRun: 'queue', input: showing(pngSource({}, [1])) });

    const claim = await fixture.claim(first.run.id);
    await store.append(claim, [started, waits]);
    await runs.answer({ accountId, runId: first.run.id, content: showing(pngSource({}, [1])) });
    await store.append(await fixture.claim(first.run.id), [completed]);
    const log = (await fixture.claim(second.run.id)).log;

    const told = (await fixture.messages.list({ accountId, threadId, limit: 10 })).data;
    expect(told.map(({ content }) => content)).toEqual(Array(3).fill([expect.objectContaining({ type: 'image' })]));
    expect(log.map(({ type }) => type)).toContain('message.created');
    expect(await everythingStored()).not.toContain(data);
  });

  it('are kept once however often they are said, also at the same time in any order', async () => {
    const { accountId, messages, database } = fixture;
    const images = [[2], [3], [4]].map((more) => pngSource({}, more));
    const threads = await Promise.all(Array.from({ length: 8 }, newThread));
    const before = await database.prisma.blob.count();

    await Promise.all(
      threads.map((threadId, index) =>
        messages.add({
          accountId,
          threadId,
          content: showing(...(index % 2 ? images : images.toReversed()), ...images),
        }),
      ),
    );

    expect(await database.prisma.blob.count()).toBe(before + images.length);
  });

  it('may be said again by their hash, and are then what the account has', async () => {
    const { accountId, messages } = fixture;
    const threadId = await newThread();
    const first = await messages.add({ accountId, threadId, content: showing(pngSource({}, [5])) });
    const [block] = first.content;
    if (block?.type !== 'image') throw new Error('not an image');

    const lying = { ...block.source, width: 9 } as Source;
    const again = await messages.add({
      accountId,
      threadId,
      content: [...textInput('Again:'), { type: 'image', source: lying }],
    });

    expect(again.content).toEqual([{ type: 'text', text: 'Again:' }, block]);
  });

  it('are refused by a hash that the account does not have, naming the field; nothing is written', async () => {
    const { accountId, messages, runs, database } = fixture;
    const threadId = await newThread();
    const other = await newAccount(database);
    const theirs = (await fixture.threads.create({ accountId: other, metadata: {} })).id;
    const { content } = await messages.add({
      accountId: other,
      threadId: theirs,
      content: showing(pngSource({}, [6])),
    });
    const stolen = [...textInput('Mine?'), ...content] as InputBlock[];

    const refusal = (field: string) => ({ code: 'unknown_blob', field: `${field}.1.source.sha256` });
    await expect(messages.add({ accountId, threadId, content: stolen })).rejects.toMatchObject(refusal('content'));
    await expect(fixture.create({ threadId, input: stolen })).rejects.toBeInstanceOf(UnknownBlobError);
    await expect(fixture.create({ threadId, input: stolen })).rejects.toMatchObject(refusal('input'));

    expect((await messages.list({ accountId, threadId, limit: 10 })).data).toEqual([]);
    expect((await runs.list({ accountId, threadId, limit: 10 })).data).toEqual([]);
  });
});

describe('Blobs', () => {
  it('keeps what a tool shows for the account of its run, and reads it back for that account alone', async () => {
    const { blobs, database } = fixture;
    const { run } = await fixture.create();
    const image = inline([7]);

    const kept = await blobs.keep(run.id, image);

    expect(await blobs.keep(run.id, image)).toEqual(kept);
    const unknown = sha256.parse('0'.repeat(64));
    expect(await blobs.read(run.id, [kept.sha256, unknown])).toEqual(new Map([[kept.sha256, image.data]]));
    const stranger = await newAccount(database);
    const { run: theirs } = await fixture.create({ accountId: stranger });
    expect(await blobs.read(theirs.id, [kept.sha256])).toEqual(new Map());
    await expect(blobs.get({ accountId: stranger, sha256: kept.sha256 })).rejects.toMatchObject({
      code: 'blob_not_found',
    });
  });

  it('holds no bytes that are not what their hash says', async () => {
    const { sql } = fixture.database;
    const values = [fixture.accountId, 'f'.repeat(64), Buffer.from('hello')];
    const lie = `insert into blobs (account_id, sha256, media_type, width, height, bytes) values ($1, $2, 'image/png', 1, 1, $3)`;

    await expect(sql.query(lie, values)).rejects.toThrow('blobs_are_what_their_hash_says');
  });
});
