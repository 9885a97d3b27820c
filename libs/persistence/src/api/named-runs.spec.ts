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
