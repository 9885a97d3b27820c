import Anthropic from '@anthropic-ai/sdk';
import type { Run } from '@rondo/contract';
import { RunningGateway, adminKey } from '../../testing/running-gateway';

let gateway: RunningGateway;
let environment: string;
beforeAll(async () => {
  gateway = await RunningGateway.start();
  environment = (await client().beta.environments.create({ name: 'usual' })).id;
});
afterAll(() => gateway.close());

const client = (key = adminKey) => new Anthropic({ baseURL: `${gateway.url}/anthropic`, apiKey: key });

const weather = {
  type: 'custom',
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
} as const;

const createAgent = (more: object = {}) =>
  client().beta.agents.create({ name: 'Coder', model: 'demo/coder', system: 'Be brief.', ...more });

const message = (text: string) => ({ type: 'user.message' as const, content: [{ type: 'text' as const, text }] });

async function newestRun(session: string): Promise<Run> {
  const { body } = await gateway.as().get(`/v1/runs?limit=1&thread_id=${session}`).expect(200);
  return (body as { data: Run[] }).data[0] as Run;
}

const reason = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it was not refused',
    (error: unknown) => error,
  );

describe('agents of Claude Managed Agents', () => {
  it('are stored with versions, and with every default written out', async () => {
    const agent = await createAgent({ tools: [{ type: 'agent_toolset_20260401' }, weather], metadata: { team: 'a' } });
    expect(agent).toMatchObject({
      type: 'agent',
      version: 1,
      name: 'Coder',
      model: { id: 'demo/coder' },
      system: 'Be brief.',
      metadata: { team: 'a' },
      archived_at: null,
      multiagent: null,
      execution_identity: { type: 'service_account' },
      tools: [{ default_config: { enabled: true, permission_policy: { type: 'always_allow' } } }, weather],
    });
    const changed = await client().beta.agents.update(agent.id, {
      version: 1,
      system: null,
      metadata: { team: null, more: 'b' },
    });
    expect(changed).toMatchObject({ version: 2, system: null, metadata: { more: 'b' } });
    expect((await client().beta.agents.update(agent.id, { version: 2, name: 'Coder' })).version).toBe(2);
    expect((await client().beta.agents.retrieve(agent.id, { version: 1 })).system).toBe('Be brief.');
    const versions = await client().beta.agents.versions.list(agent.id);
    expect(versions.data.map(({ version }) => version)).toEqual([2, 1]);
    expect(await reason(client().beta.agents.update(agent.id, { version: 1, name: 'x' }))).toMatchObject({
      status: 409,
      error: { error: { details: { error_code: 'agent_changed' } } },
    });
  });

  it('may have the same name, and are archived and no more', async () => {
    const [one, two] = [await createAgent({ name: 'Twin' }), await createAgent({ name: 'Twin' })];
    expect([one.name, two.name]).toEqual(['Twin', 'Twin']);
    const archived = await client().beta.agents.archive(one.id);
    expect(archived.archived_at).toEqual(expect.any(String));
    expect(await client().beta.agents.archive(one.id)).toEqual(archived);
    const ids = async (params: object) => {
      const found: string[] = [];
      for await (const { id } of client().beta.agents.list(params)) found.push(id);
      return found;
    };
    expect(await ids({ limit: 2 })).not.toContain(one.id);
    expect(await ids({ include_archived: true })).toContain(one.id);
    const refused = client().beta.sessions.create({ agent: one.id, environment_id: environment });
    expect(await reason(refused)).toMatchObject({ status: 400 });
  });

  it('need confirmations where their policy says so', async () => {
    const tools = [
      {
        type: 'agent_toolset_20260401',
        configs: [
          { name: 'bash', permission_policy: { type: 'always_ask' } },
          { name: 'web_search', enabled: false },
        ],
      },
    ];
    const agent = await createAgent({ tools });
    expect(agent.tools[0]).toMatchObject({
      configs: [
        { name: 'bash', permission_policy: { type: 'always_ask' } },
        { name: 'web_search', enabled: false },
      ],
    });
    const { id } = await client().beta.sessions.create({
      agent: { type: 'agent', id: agent.id, version: 1 },
      environment_id: environment,
      initial_events: [message('Go.')],
    });
    const { settings } = await newestRun(id);
    expect(settings.tools.toSorted()).toEqual(
      ['execute_command', 'full_file_rewrite', 'list_files', 'read_file', 'scrape_webpage', 'search_files', 'str_replace'],
    ); // prettier-ignore
    expect(settings.agent.system_prompt).toBe('Be brief.');
    expect(JSON.stringify(settings.approvals)).toContain('execute_command');
  });

  it('leave nothing of themselves when they are deleted as agents', async () => {
    const agent = await createAgent({ name: 'deleted', metadata: { team: 'a' } });
    await gateway.as().delete(`/v1/agents/${agent.id}`).expect(204);
    const { sql } = gateway.ownerDatabase;
    expect(await sql.query(`select data from facade_ids where outer_id = $1`, [agent.id])).toEqual([]);
  });
});

describe('environments of Claude Managed Agents', () => {
  it('are kept with their names, archived and deleted', async () => {
    const { environments } = client().beta;
    const made = await environments.create({ name: 'Mine', metadata: { a: '1' } });
    expect(made).toMatchObject({
      type: 'environment',
      config: { type: 'cloud', networking: { type: 'unrestricted' } },
    });
    const changed = await environments.update(made.id, { name: 'Ours', metadata: { a: null, b: '2' } });
    expect(changed).toMatchObject({ name: 'Ours', metadata: { b: '2' } });
    const archived = await environments.archive(made.id);
    const refused = client().beta.sessions.create({ agent: (await createAgent()).id, environment_id: made.id });
    expect(await reason(refused)).toMatchObject({ errorCode: 'environment_archived' });
    const ids = async (params: object) => (await environments.list(params)).data.map(({ id }) => id);
    expect(await ids({})).toEqual([environment]);
    expect(await ids({ include_archived: true })).toEqual([archived.id, environment]);
    expect(await environments.delete(made.id)).toEqual({ id: made.id, type: 'environment_deleted' });
    expect(await reason(environments.retrieve(made.id))).toMatchObject({ errorCode: 'environment_not_found' });
  });

  it('are a thousand of an account, of which one that is deleted makes place for another', async () => {
    const { environments } = client(await gateway.toKey('many environments')).beta;
    const made = await environments.create({ name: 'counted' });
    const { sql } = gateway.ownerDatabase;
    await sql.query(
      `insert into facade_ids (account_id, facade, kind, outer_id, thread_id, inner_id, data)
       select account_id, facade, kind, outer_id || n, '', '', data from facade_ids, generate_series(1, 999) as n
       where outer_id = $1`,
      [made.id],
    );
    const another = () => environments.create({ name: 'another' });
    expect(await reason(another())).toMatchObject({ status: 400, errorCode: 'too_many_environments' });
    await environments.delete(made.id);

    expect(await sql.query(`select data from facade_ids where outer_id = $1`, [made.id])).toEqual([]);
    expect(await another()).toMatchObject({ name: 'another' });
  });

  it('limit what the sessions that are begun in them reach', async () => {
    const { environments, sessions } = client().beta;
    const networking = { type: 'limited' as const, allowed_hosts: ['api.example.com'] };
    const made = await environments.create({ name: 'Limited', config: { type: 'cloud', networking } });
    expect(made.config).toMatchObject({
      networking: { ...networking, allow_mcp_servers: false, allow_package_managers: false },
    });
    const begin = async () =>
      sessions.create({
        ...{ agent: (await createAgent()).id, environment_id: made.id },
        initial_events: [message('Go.')],
      });
    const readEgress = async (session: { id: string }) => (await newestRun(session.id)).settings.environment?.egress;
    const first = await begin();
    expect(await readEgress(first)).toEqual(['api.example.com']);

    const wider = { type: 'limited', allow_package_managers: true } as const;
    await environments.update(made.id, { config: { type: 'cloud', networking: wider } });
    expect(await readEgress(await begin())).toEqual(expect.arrayContaining(['api.example.com', 'pypi.org']));
    await environments.update(made.id, { config: { type: 'cloud', networking: { type: 'unrestricted' } } });
    expect(await readEgress(await begin())).toBeUndefined();

    await sessions.events.send(first.id, { events: [message('Go on.')] });
    expect(await readEgress(first)).toEqual(['api.example.com']);
  });

  it('allow an agent no host that it does not allow itself', async () => {
    const definition = { name: 'narrow', environment: { egress: ['*.example.com', 'pypi.org'] } };
    const { body } = await gateway.as().post('/v1/agents').send({ definition }).expect(201);
    const networking = { type: 'limited' as const, allowed_hosts: ['api.example.com', 'example.org'] };
    const { id } = await client().beta.environments.create({ name: 'Both', config: { type: 'cloud', networking } });
    const session = await client().beta.sessions.create({
      ...{ agent: (body as { id: string }).id, environment_id: id, initial_events: [message('Go.')] },
    });
    expect((await newestRun(session.id)).settings.environment).toEqual({ egress: ['api.example.com'] });
  });

  it.each([
    [{ type: 'self_hosted' }, 'config.type'],
    [
      { type: 'cloud', networking: { type: 'limited', allowed_hosts: ['https://a'] } },
      'config.networking.allowed_hosts',
    ],
    [{ type: 'cloud', networking: { type: 'none' } }, 'config.networking'],
    [{ type: 'cloud', packages: { pip: ['numpy'] } }, 'config.packages.pip'],
  ])('are refused by name: %j', async (config, field) => {
    const refused = client().beta.environments.create({ name: 'x', config: config as never });
    expect(await reason(refused)).toMatchObject({ status: 400, message: expect.stringContaining(field) as string });
  });
});
