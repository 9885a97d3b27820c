import { type AccountId, type Agent, type AgentDefinition, agentDefinition, agentId } from '@rondo/contract';
import { StoreFixture, newAccount, nextId } from '../../testing/store-fixture';
import type { NameRange } from './agent-names';
import { AgentVersions } from './agent-versions';
import { Agents } from './agents';
import type { AgentFilter } from './list-agents';

let fixture: StoreFixture;
let agents: Agents;
let accountId: AccountId;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  agents = new Agents(fixture.database, nextId);
});
beforeEach(async () => (accountId = await newAccount(fixture.database)));
afterAll(() => fixture.close());

const made = (definition: AgentDefinition, tags: readonly string[] = []) =>
  agents.create({ accountId, definition, tags, isDefault: false });
const listNames = (data: readonly Agent[]): string[] => data.map(({ definition }) => definition.name);
const found = async (filter: Omit<AgentFilter, 'accountId' | 'limit'>): Promise<string[]> =>
  listNames((await agents.list({ accountId, limit: 50, sort: 'name', ...filter })).data);

/** All pages of two, one after the other. */
async function inPages(filter: Pick<AgentFilter, 'sort' | 'order'>): Promise<string[]> {
  const names: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await agents.list({ accountId, limit: 2, after, ...filter });
    names.push(...listNames(page.data));
    if (page.next_cursor === null) return names;
    after = page.next_cursor;
  }
}

describe('a list of agents', () => {
  it('is sorted by name, creation or change, both ways, a page at a time', async () => {
    for (const name of ['beta', 'Alpha', 'delta', 'Gamma', 'alpha']) await made({ name });
    const [oldest] = (await agents.list({ accountId, limit: 1, order: 'asc' })).data;
    await agents.update({ accountId, agentId: agentId.parse(oldest?.id), tags: ['later'] });

    const byName = await inPages({ sort: 'name' });
    expect(byName.map((name) => name.toLowerCase())).toEqual(['alpha', 'alpha', 'beta', 'delta', 'gamma']);
    expect(await inPages({ sort: 'name', order: 'desc' })).toEqual([...byName].reverse());
    expect(await inPages({})).toEqual(['alpha', 'Gamma', 'delta', 'Alpha', 'beta']);
    expect(await inPages({ order: 'asc' })).toEqual(['beta', 'Alpha', 'delta', 'Gamma', 'alpha']);
    expect((await inPages({ sort: 'updated_at' }))[0]).toBe('beta');
    expect((await inPages({ sort: 'updated_at', order: 'asc' })).at(-1)).toBe('beta');
  });

  it('refuses a cursor of another order', async () => {
    await made({ name: 'a' });
    await made({ name: 'b' });
    const { next_cursor: cursor } = await agents.list({ accountId, limit: 1, sort: 'name' });
    const after = cursor ?? '';

    const others = [{}, { sort: 'name', order: 'desc' }, { sort: 'updated_at' }, { sort: 'created_at' }] as const;
    for (const other of others) {
      const attempt = agents.list({ accountId, limit: 1, after, ...other });
      await expect(attempt).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
    const forged = Buffer.from('updated_at desc agt_1 tomorrow').toString('base64url');
    const attempt = agents.list({ accountId, limit: 1, after: forged, sort: 'updated_at' });
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  it('has the agents with all of the tags', async () => {
    await made({ name: 'a' }, ['red', 'round']);
    await made({ name: 'b' }, ['red']);
    await made({ name: 'c' });

    expect(await found({ tags: ['red'] })).toEqual(['a', 'b']);
    expect(await found({ tags: ['round', 'red'] })).toEqual(['a']);
    expect(await found({ tags: ['red'], search: 'B' })).toEqual(['b']);
    expect(await found({ tags: ['blue'] })).toEqual([]);
  });

  it('has the agents that choose a tool, by its name or its group', async () => {
    const tools: Record<string, AgentDefinition['tools']> = {
      listed: ['execute_command'],
      'other list': ['read_file'],
      on: { execute_command: true },
      off: { execute_command: false },
      policy: { execute_command: { require_approval: true } },
      'off by policy': { execute_command: { enabled: false } },
      group: { shell: true },
      'off in the group': { shell: true, execute_command: false },
      'of a server': { tickets__create: {} },
    };
    for (const [name, chosen] of Object.entries(tools)) await made(agentDefinition.parse({ name, tools: chosen }));
    await made({ name: 'none' });

    expect(await found({ tool: 'execute_command' })).toEqual(['group', 'listed', 'on', 'policy']);
    expect(await found({ tool: 'tickets__create' })).toEqual(['of a server']);
    expect(await found({ tool: 'fly' })).toEqual([]);
  });

  it('has the agents with MCP servers, or those without, and the default', async () => {
    const server = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' };
    const served = await made(agentDefinition.parse({ name: 'served', mcp_servers: [server] }));
    await made(agentDefinition.parse({ name: 'emptied', mcp_servers: [] }));
    await made({ name: 'alone' });
    await agents.update({ accountId, agentId: served.id, isDefault: true });

    expect(await found({ hasMcp: true })).toEqual(['served']);
    expect(await found({ hasMcp: false })).toEqual(['alone', 'emptied']);
    expect(await found({ isDefault: true })).toEqual(['served']);
    expect(await found({ isDefault: false })).toEqual(['alone', 'emptied']);
  });
});

describe('attack: texts that Postgres does not read as JSON', () => {
  it('hide no agent from a filter of tools or servers', async () => {
    const prompts = [
      '\0',
      '\ud800',
      '\\u0000',
      '\\\\u0000\0',
      '\\"\\\0"',
      '{"tools":["read_file"]}',
      "'; --",
      '\x1f\n\\',
    ];
    for (const [index, text] of prompts.entries())
      await made({ name: `${index}`, system_prompt: text, tools: { execute_command: true } });

    expect(await found({ tool: 'execute_command', hasMcp: false })).toEqual(prompts.map((_, index) => `${index}`));
    expect(await found({ tool: 'read_file' })).toEqual([]);
    expect(await found({ tool: '\0', tags: ['\0'] })).toEqual([]);
  });
});

describe('attack: tenants', () => {
  it('no filter and no cursor shows an agent of another account', async () => {
    await made({ name: 'mine', tools: ['read_file'] }, ['red']);
    await made({ name: 'mine too', tools: ['read_file'] }, ['red']);
    const { next_cursor: cursor } = await agents.list({ accountId, limit: 1, sort: 'name' });
    const stranger = await newAccount(fixture.database);

    for (const filter of [{ tags: ['red'] }, { tool: 'read_file' }, { hasMcp: false }, { after: cursor ?? '' }]) {
      expect((await agents.list({ accountId: stranger, limit: 5, sort: 'name', ...filter })).data).toEqual([]);
    }
  });
});

describe('names of agents', () => {
  const names = async (range: Partial<NameRange> = {}) =>
    (await agents.listNames({ accountId, sort: 'name', order: 'asc', limit: 50, offset: 0, ...range })).map(
      ({ name }) => name,
    );
  const at = '2020-01-01T00:00:00.000Z';
  const besides = [{ id: 'rondo', name: 'Built in', version: 1, created_at: at, updated_at: at }];

  it('are sorted and cut, with what stands beside them', async () => {
    for (const name of ['beta', 'Alpha', 'gamma']) await made({ name });

    expect(await names({ besides })).toEqual(['Alpha', 'beta', 'Built in', 'gamma']);
    expect(await names({ besides, order: 'desc', limit: 2, offset: 1 })).toEqual(['Built in', 'beta']);
    expect(await names({ sort: 'created_at', besides })).toEqual(['Built in', 'beta', 'Alpha', 'gamma']);
    expect(await names({ sort: 'id', order: 'desc' })).toEqual(['gamma', 'Alpha', 'beta']);
    expect(await names({ search: 'B', besides })).toEqual(['beta', 'Built in']);
    expect(await names({ name: 'beta', besides })).toEqual(['beta']);
    expect(await agents.countNames({ accountId, besides })).toBe(4);
    expect(await agents.countNames({ accountId, search: 'lph' })).toBe(1);
  });

  it('come with what describes them', async () => {
    await made({ name: 'a', description: 'It "reads"\nwith care, \0 too.' });
    const { id, version, created_at } = await made({ name: 'b' });

    const found = await agents.listNames({ accountId, sort: 'name', order: 'asc', limit: 2, offset: 0 });
    expect(found[0]?.description).toContain('It "reads"\nwith care');
    expect(found[1]).toEqual({ id, name: 'b', version, description: null, created_at, updated_at: created_at });
  });
});

describe('attack: public API', () => {
  const mebibyte = { system_prompt: 'x'.repeat(1024 * 1024) };

  it('a list of agents with definitions of a mebibyte each is cut into pages by bytes, and none is left out', async () => {
    for (let each = 1; each <= 10; each += 1) await made({ name: `agent ${each}`, ...mebibyte });
    const first = await agents.list({ accountId, limit: 200 });
    const rest = await agents.list({ accountId, limit: 200, after: first.next_cursor ?? '' });

    expect(new Set(listNames([...first.data, ...rest.data])).size).toBe(10);
    expect([first.data.length, first.has_more, rest.data.length, rest.has_more]).toEqual([8, true, 2, false]);
    const named = await agents.listNames({ accountId, sort: 'name', order: 'asc', limit: 200, offset: 0 });
    expect([named.length, JSON.stringify(named).length < 3_000]).toEqual([10, true]);
  });

  it('a list of versions of a mebibyte each is cut into pages by bytes, and none is left out', async () => {
    const { id } = await made({ name: 'agent' });
    for (let each = 1; each <= 10; each += 1)
      await agents.update({
        ...{ accountId, agentId: id },
        change: { definition: { name: `agent ${each}`, ...mebibyte } },
      });
    const versions = new AgentVersions(fixture.database);
    const first = await versions.list({ accountId, agentId: id, limit: 200 });
    const rest = await versions.list({ accountId, agentId: id, limit: 200, after: first.next_cursor ?? '' });

    expect([...first.data, ...rest.data].map(({ version }) => version)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect([first.data.length, rest.has_more]).toEqual([8, false]);
    expect((await versions.list({ accountId, agentId: id, limit: 2, below: 4 })).data[0]?.version).toBe(3);
  });
});
