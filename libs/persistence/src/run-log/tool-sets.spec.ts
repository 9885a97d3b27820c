import type { ToolSetSnapshot } from '@rondo/contract';
import { builtInTools, toSnapshot } from '@rondo/domain';
import { Accounts } from '../api/accounts';
import { ToolSetSweep } from '../retention/sweeps';
import { StoreFixture, completed, iterationStarted, newAccount, nextId } from '../testing/store-fixture';
import { type StoredToolSet, ToolSets, toStoredToolSet } from './tool-sets';

const snapshot = toSnapshot(builtInTools);
const shared = toStoredToolSet(snapshot, null);

let fixture: StoreFixture;
let toolSets: ToolSets;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  toolSets = new ToolSets(fixture.database);
});
afterEach(() => fixture.close());

const query = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, values);

/** A run that started with the set. */
async function startedWith({ hash }: StoredToolSet) {
  const claim = await fixture.claimed();
  const start = { type: 'run.started' as const, iteration: 0, data: { tool_set: hash } };
  await fixture.store.append(claim, [start, iterationStarted(1)]);
  return claim;
}

describe('storedToolSet', () => {
  it('gives equal sets one hash whatever the order of their keys, and another account another one', async () => {
    const account = await newAccount(fixture.database);
    const reversed = JSON.parse(JSON.stringify(snapshot), (_, part: unknown) =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).reverse())
        : part,
    ) as ToolSetSnapshot;
    const changed = { ...snapshot, offered: snapshot.offered.slice(1) };

    expect(JSON.stringify(reversed)).not.toBe(JSON.stringify(snapshot));
    expect(toStoredToolSet(reversed, null).hash).toBe(shared.hash);
    expect(
      new Set([shared.hash, toStoredToolSet(snapshot, account).hash, toStoredToolSet(changed, null).hash]).size,
    ).toBe(3);
  });
});

describe('ToolSets', () => {
  it('returns the snapshot to the byte, and nothing under an unknown hash', async () => {
    await toolSets.keep(shared);
    await toolSets.keep(shared);

    expect(JSON.stringify(await toolSets.find(shared.hash))).toBe(JSON.stringify(snapshot));
    expect(await toolSets.find('0'.repeat(64))).toBeUndefined();
  });

  it('keeps the first hash of a run, and claims by turn return it too', async () => {
    const claim = await startedWith(shared);
    await fixture.store.append(claim, [{ type: 'run.started', iteration: 0, data: { tool_set: 'other' } }]);
    await fixture.store.handOver(claim);

    expect((await fixture.store.claimNext('worker-2', () => []))?.toolSet).toBe(shared.hash);
  });

  it('loses the set of an account with the account, and no other', async () => {
    const accounts = new Accounts(fixture.database, nextId);
    const { account } = await accounts.create({ name: 'a tenant', scopes: [] });
    const own = toStoredToolSet(snapshot, account.id);
    const stranger = toStoredToolSet(snapshot, fixture.accountId);
    for (const set of [shared, own, stranger]) await toolSets.keep(set);

    await query('delete from accounts where id = $1', [account.id]);

    expect(await toolSets.find(own.hash)).toBeUndefined();
    expect(await toolSets.find(stranger.hash)).toBeDefined();
    expect(await toolSets.find(shared.hash)).toBeDefined();
  });
});

describe('ToolSetSweep', () => {
  const unused = () => query(`update tool_sets set last_used_at = last_used_at - interval '31 days'`);
  const sweep = (days: number | undefined) => new ToolSetSweep(fixture.database, days).sweep();

  it('deletes what no run has used for long, and nothing where facts are kept forever', async () => {
    await toolSets.keep(shared);
    expect(await sweep(0.001)).toBe(0); // never within a day: a run may be about to start with it

    await unused();
    expect(await sweep(undefined)).toBe(0);
    expect(await sweep(32)).toBe(0);
    expect(await sweep(30)).toBe(1);
    expect(await toolSets.find(shared.hash)).toBeUndefined();
  });

  it('leaves the set of a run that is not over, however long it waits', async () => {
    await toolSets.keep(shared);
    const claim = await startedWith(shared);
    await unused();

    expect(await sweep(30)).toBe(0);
    await fixture.store.append(claim, [completed]);
    expect(await sweep(30)).toBe(1);
  });

  it('leaves a set that a worker has just used again', async () => {
    await toolSets.keep(shared);
    await unused();
    await toolSets.keep(shared);

    expect(await sweep(30)).toBe(0);
  });
});
