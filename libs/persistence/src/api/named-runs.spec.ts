import { type AccountId, type Run, runId } from '@rondo/contract';
import { StoreFixture, newAccount, nextId } from '../testing/store-fixture';
import { ChatTaken, FacadeIds } from './facade-ids';
import { IdempotencyKeys } from './idempotency-keys';

let fixture: StoreFixture;
let ids: FacadeIds;
let stranger: AccountId;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  ids = new FacadeIds(fixture.database, nextId);
  stranger = await newAccount(fixture.database);
});
afterAll(() => fixture.close());

describe('names of runs', () => {
  it('stand for the part of a run that had them last, in one account and façade', async () => {
    const { accountId } = fixture;
    const { id: threadId } = await fixture.threads.create({ accountId, metadata: {} });
    const named = { accountId, facade: 'openai', name: 'the hash of a chat' };
    const [first, second] = [runId.parse(`run_${nextId()}`), runId.parse(`run_${nextId()}`)];

    await ids.nameRun({ ...named, threadId, runId: first, after: 0 });
    expect(await ids.findRun(named)).toEqual({ runId: first, after: 0 });
    await ids.nameRun({ ...named, threadId, runId: second, after: 7 });

    expect(await ids.findRun(named)).toEqual({ runId: second, after: 7 });
    expect(await ids.findRun({ ...named, name: 'another' })).toBeUndefined();
    expect(await ids.findRun({ ...named, facade: 'ai-sdk' })).toBeUndefined();
    expect(await ids.findRun({ ...named, accountId: stranger })).toBeUndefined();
  });
});

describe('the first run of a chat', () => {
  const begin = (chatId: string, key = `key-${nextId()}`) => {
    const { accountId } = fixture;
    const request = { accountId, key, requestHash: 'hash' };
    const answer = (run: Run) => ({ status: 202, body: { id: run.id }, location: null });
    return fixture.create({
      chat: { facade: 'ag-ui', chatId, runName: `run of ${key}` },
      promised: { request, answer },
    });
  };
  const countRuns = async () => {
    const [{ runs } = { runs: NaN }] = await fixture.database.sql.query<{ runs: number }>(
      `select count(*)::int as runs from runs where account_id = $1`,
      [fixture.accountId],
    );
    return runs;
  };

  it('is made with its thread, its names and the answer to its request', async () => {
    const { accountId } = fixture;
    const named = { accountId, facade: 'ag-ui' };
    const keys = new IdempotencyKeys(fixture.database);

    const { run } = await begin('a chat', 'a key');

    expect(await ids.findThread({ ...named, chatId: 'a chat' })).toBe(run.thread_id);
    expect(await ids.findRun({ ...named, name: 'run of a key' })).toEqual({ runId: run.id, after: 0 });
    expect(await keys.begin({ accountId, key: 'a key', requestHash: 'hash' })).toEqual({
      verdict: 'replay',
      response: { status: 202, body: { id: run.id }, location: null },
    });
    expect((await fixture.messages.list({ accountId, threadId: run.thread_id, limit: 9 })).data).toHaveLength(1);
  });

  it('is made by one of several requests, and the others leave nothing', async () => {
    const before = await countRuns();

    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => begin('a wanted chat')));

    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(refused).toHaveLength(4);
    for (const error of refused) expect(error).toBeInstanceOf(ChatTaken);
    expect(await countRuns()).toBe(before + 1);
  });

  it('is not made for a request that is known, though its chat is not', async () => {
    const request = { accountId: fixture.accountId, key: 'a known key', requestHash: 'hash' };
    await new IdempotencyKeys(fixture.database).begin(request);

    await expect(begin('another chat', 'a known key')).rejects.toBeInstanceOf(ChatTaken);

    expect(await ids.findThread({ ...request, facade: 'ag-ui', chatId: 'another chat' })).toBeUndefined();
  });
});

describe('names of messages and threads', () => {
  it('stay as they were given first, and are those of one account, façade and thread', async () => {
    const { accountId } = fixture;
    const chat = { accountId, facade: 'langgraph', chatId: 'A-thread' };
    const threadId = await ids.createThread(chat);
    const other = await ids.createThread({ ...chat, chatId: 'Another' });
    const named = { accountId, facade: 'langgraph', threadId, messageId: 'msg_1' };

    await ids.nameMessage({ ...named, name: 'first' });
    await ids.nameMessage({ ...named, name: 'second' });
    await ids.nameMessage({ ...named, threadId: other, name: 'first' });

    expect([...(await ids.listMessageNames(named))]).toEqual([['msg_1', 'first']]);
    expect(await ids.listMessageNames({ ...named, accountId: stranger })).toEqual(new Map());
    expect(await ids.listThreadNames(chat, [threadId])).toEqual(new Map([[threadId, 'A-thread']]));
    expect(await ids.listThreadNames({ ...chat, accountId: stranger }, [threadId])).toEqual(new Map());
  });
});

describe('metadata of a thread', () => {
  it('is changed by what is stored, or stays', async () => {
    const { accountId } = fixture;
    const { id: threadId } = await fixture.threads.create({ accountId, metadata: { a: '1' } });
    const add = (key: string) =>
      fixture.threads.changeMetadata({ accountId, threadId }, (stored) => ({ ...stored, [key]: '2' }));
    await Promise.all([add('b'), add('c')]);
    const refuse = () => {
      throw new Error('no');
    };
    await expect(fixture.threads.changeMetadata({ accountId, threadId }, refuse)).rejects.toThrow('no');
    const address = { accountId: stranger, threadId };
    await expect(fixture.threads.changeMetadata(address, (stored) => stored)).rejects.toThrow('There is no thread');
    expect((await fixture.threads.get({ accountId, threadId })).metadata).toEqual({ a: '1', b: '2', c: '2' });
  });
});
