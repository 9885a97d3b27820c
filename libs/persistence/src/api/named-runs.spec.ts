import { type AccountId, runId } from '@rondo/contract';
import { StoreFixture, newAccount, nextId } from '../testing/store-fixture';
import { FacadeIds } from './facade-ids';

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
