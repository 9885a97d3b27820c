import { randomBytes } from 'node:crypto';
import type { AccountId, Agent, AgentDefinition, AgentId } from '@rondo/contract';
import { openDatabase } from '../../database/database';
import { StoreFixture, newAccount, nextId } from '../../testing/store-fixture';
import { StoredSettings } from '../account-settings';
import { AgentVersions } from './agent-versions';
import { Agents } from './agents';
import { agentQuotas } from './change-agent';
import { BasisChanged } from './run-basis';

let fixture: StoreFixture;
let agents: Agents;
let versions: AgentVersions;
let accountId: AccountId;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  agents = new Agents(fixture.database, nextId);
  versions = new AgentVersions(fixture.database);
});
beforeEach(async () => (accountId = await newAccount(fixture.database)));
afterAll(() => fixture.close());

const made = (definition: AgentDefinition, isDefault = false) => agents.create({ accountId, definition, isDefault });
const changed = ({ id, definition }: Agent, change: Partial<AgentDefinition>, ifVersion?: number) =>
  agents.update({ accountId, agentId: id, ifVersion, change: { definition: { ...definition, ...change } } });
const refused = (code: string) => expect.objectContaining({ code }) as Error;

describe('a stored agent', () => {
  it('gets a version with each change, and none without a change', async () => {
    const writer = await made({ name: 'writer', llm: { temperature: 0.1, top_p: 1 } });
    await changed(writer, { llm: { top_p: 1, temperature: 0.1 } });
    const later = await changed(writer, { task: 'Write.' });

    expect(writer).toMatchObject({ version: 1, latest_version: 1, is_default: false });
    expect(later).toMatchObject({ version: 2, latest_version: 2, definition: { name: 'writer', task: 'Write.' } });
    const { data } = await versions.list({ accountId, agentId: writer.id, limit: 10 });
    expect(data.map(({ version, is_active: isActive }) => [version, isActive])).toEqual([
      [2, true],
      [1, false],
    ]);
  });

  it('is refused where its account has as many, or as many bytes in all versions', async () => {
    const first = await made({ name: 'first' });
    jest.replaceProperty(agentQuotas, 'agents', 1);
    await expect(made({ name: 'second' })).rejects.toEqual(refused('agent_quota_exceeded'));
    const long = randomBytes(3_000).toString('base64'); // Postgres cannot compress it
    const longer = await changed(first, { task: long });

    jest.replaceProperty(agentQuotas, 'bytes', 5_000);
    await expect(changed(longer, { task: `${long}.` })).rejects.toEqual(refused('agent_quota_exceeded'));
    expect(await agents.update({ accountId, agentId: first.id, tags: ['kept'] })).toMatchObject({ version: 2 });
    await agents.delete({ accountId, agentId: first.id });
    await made({ name: 'second', task: long });
    jest.restoreAllMocks();
  });

  it('goes back to an earlier version, name and all, and on from there', async () => {
    const writer = await made({ name: 'first', task: 'One.' });
    await changed(writer, { name: 'second', task: 'Two.' });

    const back = await versions.activate({ accountId, agentId: writer.id, version: 1 });
    const onward = await changed(back, { description: 'New.' });

    expect(back).toMatchObject({ version: 1, latest_version: 2, definition: { name: 'first', task: 'One.' } });
    expect(onward).toMatchObject({ version: 3, definition: { name: 'first', task: 'One.', description: 'New.' } });
    expect((await agents.list({ accountId, search: 'FIRST', limit: 5 })).data).toEqual([onward]);
    expect((await agents.list({ accountId, search: 'second', limit: 5 })).data).toEqual([]);
  });

  it('refuses a change by a client that knows an older version', async () => {
    const writer = await made({ name: 'writer' });
    const outcomes = await Promise.allSettled([changed(writer, { task: 'A' }, 1), changed(writer, { task: 'B' }, 1)]);
    const address = { accountId, agentId: writer.id, version: 1 };

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes).toContainEqual({ status: 'rejected', reason: refused('agent_changed') });
    await expect(versions.activate({ ...address, ifVersion: 1 })).rejects.toEqual(refused('agent_changed'));
    expect(await versions.activate({ ...address, ifVersion: 2 })).toMatchObject({ version: 1, latest_version: 2 });
  });

  it('keeps every one of concurrent changes as a version', async () => {
    const writer = await made({ name: 'writer' });
    await Promise.all(Array.from({ length: 8 }, (_, n) => changed(writer, { task: `Task ${n}` })));

    const { data } = await versions.list({ accountId, agentId: writer.id, limit: 20 });
    expect(data.map(({ version }) => version)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(new Set(data.map(({ definition }) => definition.task)).size).toBe(9);
  });

  it('has a name of its own in the account', async () => {
    const [writer, reader] = [await made({ name: 'writer' }), await made({ name: 'reader' })];

    await expect(made({ name: 'writer' })).rejects.toEqual(refused('agent_name_taken'));
    await expect(changed(reader, { name: 'writer' })).rejects.toEqual(refused('agent_name_taken'));
    await changed(writer, { name: 'author' });
    await changed(reader, { name: 'writer' });
    const back = versions.activate({ accountId, agentId: writer.id, version: 1 });
    await expect(back).rejects.toEqual(refused('agent_name_taken'));
  });

  it('is deleted with its versions, but not while it is the default', async () => {
    const writer = await made({ name: 'writer' }, true);
    const address = { accountId, agentId: writer.id };

    await expect(agents.delete(address)).rejects.toEqual(refused('agent_is_default'));
    await agents.update({ ...address, isDefault: false });
    await agents.delete(address);

    await expect(agents.get(address)).rejects.toEqual(refused('agent_not_found'));
    await expect(versions.get({ ...address, version: 1 })).rejects.toEqual(refused('agent_not_found'));
  });

  it('is stored whatever its texts hold', async () => {
    const name = 'a\ud800"{},\\';
    const { agent } = await agents.apply({ accountId, definition: { name } });

    expect((await agents.apply({ accountId, definition: { name } })).agent).toEqual(agent);
    expect((await agents.list({ accountId, search: '"{},\\', limit: 5 })).data).toEqual([agent]);
  });
});

describe('the note of a version', () => {
  it('is kept with the version that it came with, and is all of it that can change', async () => {
    const create = agents.create({ accountId, isDefault: false, definition: { name: 'writer' }, note: 'First\0.' });
    const { id: agentId, definition } = await create;
    const change = { definition, note: 'Of no version.' };
    await agents.update({ accountId, agentId, change });
    await agents.update({ accountId, agentId, change: { definition: { ...definition, task: 'Write.' } } });
    const notes = async () =>
      (await versions.list({ accountId, agentId, limit: 5 })).data.map(({ version, note }) => [version, note]);

    expect(await notes()).toEqual([
      [2, null],
      [1, 'First\u{FFFD}.'],
    ]);
    const second = await versions.get({ accountId, agentId, version: 2 });
    expect(await versions.setNote({ accountId, agentId, version: 2, note: 'Why' })).toEqual({ ...second, note: 'Why' });
    await versions.setNote({ accountId, agentId, version: 1, note: null });
    expect(await notes()).toEqual([
      [2, 'Why'],
      [1, null],
    ]);
    const missing = versions.setNote({ accountId, agentId, version: 3, note: 'Why' });
    await expect(missing).rejects.toEqual(refused('agent_version_not_found'));
  });
});

describe('the tags of an agent', () => {
  it('are changed without a version, and stay where a change does not name them', async () => {
    const { id: agentId } = await agents.create({
      accountId,
      isDefault: false,
      tags: ['a'],
      definition: { name: 'w' },
    });
    const tagged = await agents.update({ accountId, agentId, tags: ['b', 'c'] });
    const { agent: kept } = await agents.apply({ accountId, definition: { name: 'w', task: 'Write.' } });
    const { agent: cleared } = await agents.apply({ accountId, tags: [], definition: { name: 'w', task: 'Write.' } });

    expect(tagged).toMatchObject({ version: 1, tags: ['b', 'c'] });
    expect(kept).toMatchObject({ version: 2, tags: ['b', 'c'] });
    expect(cleared).toMatchObject({ version: 2, tags: [] });
  });
});

describe('the default of an account', () => {
  it('is one agent at most, also when several become it at once', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => made({ name }, true)));
    await Promise.all(all.map(({ id }) => agents.update({ accountId, agentId: id, isDefault: true })));

    const { data } = await agents.list({ accountId, limit: 10 });
    expect(data.filter(({ is_default: isDefault }) => isDefault)).toHaveLength(1);
    expect(data.map(({ version }) => version)).toEqual([1, 1, 1, 1]);
  });
});

describe('an agent that is applied by its name', () => {
  it('is created once, and changed only by another definition', async () => {
    const apply = (definition: AgentDefinition) => agents.apply({ accountId, definition });
    const same = await Promise.all(Array.from({ length: 4 }, () => apply({ name: 'writer', task: 'Write.' })));
    const other = await apply({ name: 'writer', task: 'Read.' });

    expect(same.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(same.map(({ agent }) => JSON.stringify(agent))).size).toBe(1);
    expect(other).toMatchObject({ isNew: false, agent: { id: same[0]?.agent.id, version: 2, latest_version: 2 } });
  });
});

describe('lists', () => {
  it('come a page at a time, newest first', async () => {
    const [one, two, three] = [await made({ name: '1' }), await made({ name: '2' }), await made({ name: '3' })];
    const page = await agents.list({ accountId, limit: 2 });
    const rest = await agents.list({ accountId, limit: 2, after: page.next_cursor ?? '' });
    expect([page.data, rest.data, rest.has_more]).toEqual([[three, two], [one], false]);

    await changed(one, { task: 'Two.' });
    await changed(one, { task: 'Three.' });
    const address = { accountId, agentId: one.id };
    const latest = await versions.list({ ...address, limit: 2 });
    const earliest = await versions.list({ ...address, limit: 2, after: latest.next_cursor ?? '' });
    expect([...latest.data, ...earliest.data].map(({ version }) => version)).toEqual([3, 2, 1]);
    await expect(versions.list({ ...address, limit: 2, after: 'eA' })).rejects.toEqual(refused('invalid_cursor'));
  });
});

describe('the agent of a run', () => {
  it('is stored with the run, and outlives the agent', async () => {
    const writer = await made({ name: 'writer' });
    const agent = { id: writer.id, version: writer.version, isNamed: true };
    const { run, facts } = await fixture.create({ accountId, agent });
    await changed(writer, { task: 'Other.' });

    expect(run).toMatchObject({ agent_id: writer.id, agent_version: 1 });
    expect(facts[0]?.data).toMatchObject({ agent_id: writer.id, agent_version: 1 });
    expect(await fixture.threads.get({ accountId, threadId: run.thread_id })).toMatchObject({ agent_id: writer.id });

    await agents.delete({ accountId, agentId: writer.id });
    expect(await fixture.runs.get({ accountId, runId: run.id })).toEqual(run);
    expect((await fixture.claim(run.id)).run).toMatchObject({ agent_id: writer.id, agent_version: 1 });
  });

  it('can be the one of the request, the thread or the account', async () => {
    const [asked, usual] = [await made({ name: 'asked' }), await made({ name: 'usual' }, true)];
    const { id: threadId } = await fixture.threads.create({ accountId, agentId: asked.id, metadata: {} });
    const active = ({ id, version, definition }: Agent) => ({ id, version, definition, servers: [] });

    expect((await agents.readBasis({ accountId, agentId: usual.id, threadId })).candidates).toEqual({
      request: active(usual),
      thread: active(asked),
      account: active(usual),
    });
    await agents.delete({ accountId, agentId: asked.id });
    expect(await agents.readBasis({ accountId, threadId })).toEqual({
      candidates: { account: active(usual) },
      settings: {},
      revision: expect.any(String),
    });
  });

  it('is not kept by the thread unless the request named it', async () => {
    const writer = await made({ name: 'writer' }, true);
    const { run } = await fixture.create({ accountId, agent: { id: writer.id, version: 1, isNamed: false } });

    expect(run.agent_id).toBe(writer.id);
    expect(await fixture.threads.get({ accountId, threadId: run.thread_id })).toMatchObject({ agent_id: null });
  });
});

describe('a run whose settings come from what was read before', () => {
  const readBasis = (agentId?: AgentId) => agents.readBasis({ accountId, agentId });
  const create = (basis: string, named?: Agent) =>
    fixture.create({
      accountId,
      basis,
      ...(named && { agent: { id: named.id, version: named.version, isNamed: true } }),
    });

  it('is created as long as that is the same', async () => {
    const [usual, named] = [await made({ name: 'usual' }, true), await made({ name: 'named' })];
    const [{ revision }, { revision: ofNamed }] = [await readBasis(), await readBasis(named.id)];
    await changed(named, { task: 'Other.' });
    await fixture.create({ accountId, basis: revision });
    const { revision: since } = await readBasis(named.id);
    await changed(usual, { task: 'Other.' });

    await expect(create(since, named)).resolves.toBeDefined();
    await expect(create(ofNamed, named)).rejects.toThrow(BasisChanged);
    await expect(create(revision)).rejects.toThrow(BasisChanged);
  });

  it.each<[string, (usual: Agent, other: Agent) => Promise<unknown>]>([
    ['settings of the account', () => new StoredSettings(fixture.database).write(accountId, { profile: 'ii' })],
    ['a definition', (usual) => changed(usual, { task: 'Other.' })],
    ['another default', (_, { id }) => agents.update({ accountId, agentId: id, isDefault: true })],
    ['no default', ({ id }) => agents.update({ accountId, agentId: id, isDefault: false })],
    ['an earlier version', ({ id }) => versions.activate({ accountId, agentId: id, version: 1 })],
  ])('is not created after a change: %s', async (_, change) => {
    const [usual, other] = [await made({ name: 'usual' }, true), await made({ name: 'other' })];
    await changed(usual, { task: 'Second.' });
    const { revision } = await readBasis();
    await change(usual, other);
    const { revision: since } = await readBasis();

    const [earlier, present] = await Promise.allSettled([create(revision), create(since)]); // in one statement

    expect(earlier).toMatchObject({ status: 'rejected', reason: expect.any(BasisChanged) });
    expect(present.status).toBe('fulfilled');
    expect((await fixture.runs.count({ accountId })).queued).toBe(1);
  });

  it('is not created after its agent was deleted, or two changes within a millisecond', async () => {
    const named = await made({ name: 'named' });
    const { revision } = await readBasis(named.id);
    await agents.delete({ accountId, agentId: named.id });
    const { revision: ofAccount } = await readBasis();
    await fixture.database.sql.query(`update accounts set settings = '{"profile": "ii"}' where id = $1`, [accountId]);

    await expect(create(revision, named)).rejects.toThrow(BasisChanged);
    await expect(create(ofAccount)).rejects.toThrow(BasisChanged);
  });
});

describe('attack: tenants', () => {
  it('an agent of another account, named in every call', async () => {
    const writer = await made({ name: 'writer' }, true);
    const { id: threadId } = await fixture.threads.create({ accountId, agentId: writer.id, metadata: {} });
    const stranger = await newAccount(fixture.database);
    const address = { accountId: stranger, agentId: writer.id };
    const attempts = [
      agents.get(address),
      agents.update({ ...address, change: { definition: { name: 'mine' } } }),
      agents.delete(address),
      versions.list({ ...address, limit: 5 }),
      versions.get({ ...address, version: 1 }),
      versions.activate({ ...address, version: 1 }),
      versions.setNote({ ...address, version: 1, note: 'mine' }),
      agents.update({ ...address, tags: ['mine'] }),
      agents.readBasis(address),
      fixture.threads.create({ ...address, metadata: {} }),
    ];

    for (const attempt of await Promise.allSettled(attempts)) {
      expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'agent_not_found' } });
    }
    const { candidates, settings } = await agents.readBasis({ accountId: stranger, threadId });
    expect({ candidates, settings }).toEqual({ candidates: {}, settings: {} });
    expect((await agents.list({ accountId: stranger, limit: 5 })).data).toEqual([]);
    expect(await agents.get({ accountId, agentId: writer.id })).toEqual(writer);
  });

  it('a gateway that rewrites a version of an agent', async () => {
    const url = await fixture.database.findUrl('gateway');
    const gateway = openDatabase({ url, poolSize: 1 });

    const attempt = gateway.sql.query(`update agent_versions set definition = '{}' where agent_id = $1`, ['agt_1']);

    await expect(attempt).rejects.toThrow('permission denied');
    await gateway.close();
  });
});
