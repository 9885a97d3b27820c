import type { AccountId } from '@rondo/contract';
import { describeRunMemory } from '@rondo/domain/testing';
import { StoreFixture, newAccount, nextId, planned, started } from '../../testing/store-fixture';
import { MemoryEntries } from './memory-entries';
import { MemoryStores } from './memory-stores';
import { PostgresRunMemory } from './run-memory';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const newStore = (accountId: AccountId) => {
  const scope = { project_id: null, agent_id: null, user: null };
  const name = `notes-${nextId().toLowerCase()}`;
  return new MemoryStores(fixture.database, nextId).create(accountId, { name, description: '', ...scope });
};

const open = async () => {
  const { id: store } = await newStore(fixture.accountId);
  const claim = await fixture.claimed();
  return { memory: new PostgresRunMemory(fixture.database, claim), store, claim };
};

describeRunMemory('PostgresRunMemory', open);

describe('PostgresRunMemory', () => {
  it('names the run, the call and the event that planned it', async () => {
    const { memory, store, claim } = await open();
    const fact = planned(claim, { name: 'memory_write' });
    const [, recorded] = await fixture.store.append(claim, [started, fact]);
    const { id } = fact.data.tool_call;

    await memory.write(store, { path: 'a.md', content: 'A', ifVersion: undefined, callId: id });

    const address = { accountId: fixture.accountId, memoryStoreId: store, path: 'a.md' };
    expect((await new MemoryEntries(fixture.database).read(address)).written_by).toEqual({
      caller_id: null,
      run_id: claim.runId,
      tool_call_id: id,
      seq: recorded?.seq,
    });
  });

  it('reaches no store of another account', async () => {
    const { memory } = await open();
    const { id } = await newStore(await newAccount(fixture.database));

    expect(await memory.list(id)).toMatchObject({ how: 'refused' });
  });
});
