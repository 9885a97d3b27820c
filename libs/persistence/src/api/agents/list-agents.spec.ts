import { type AccountId, type Agent, type AgentDefinition, agentDefinition, agentId } from '@rondo/contract';
import { StoreFixture, newAccount, nextId } from '../../testing/store-fixture';
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
