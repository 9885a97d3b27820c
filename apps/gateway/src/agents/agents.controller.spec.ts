import {
  type Agent,
  type AgentDefinition,
  type AgentVersion,
  type Run,
  accountId,
  mcpHeaderPurpose,
} from '@rondo/contract';
import { SecretBox } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';

let key: string;
const secretsKey = Buffer.alloc(32, 7).toString('base64');
const gateway = RunningGateway.forSuite({ MAX_RUN_BUDGET_USD: 2, SECRETS_KEY: secretsKey });
beforeEach(async () => (key = await gateway.toKey('an account')));

const api = () => gateway.as(key);
const made = async (definition: AgentDefinition, fields: object = {}): Promise<Agent> =>
  (
    await api()
      .post('/v1/agents')
      .send({ definition, ...fields })
      .expect(201)
  ).body as Agent;
const changed = async ({ id }: Agent, change: object): Promise<Agent> =>
  (await api().patch(`/v1/agents/${id}`).send(change).expect(200)).body as Agent;
const ran = (body: object = {}): Promise<Run> => gateway.createRun({ input: 'Go.', ...body }, key);

describe('stored agents', () => {
  it('are created, read, found, changed and deleted', async () => {
    const { body: writer, headers } = await api()
      .post('/v1/agents')
      .send({ definition: { name: 'writer', profile: 'ii', tools: { shell: false } } })
      .expect(201);
    const reader = await made({ name: 'Reader' });

    expect(headers['location']).toBe(`/v1/agents/${writer.id}`);
    expect(writer).toMatchObject({ version: 1, is_default: false, definition: { profile: 'ii' } });
    expect((await api().get('/v1/agents?search=read').expect(200)).body.data).toEqual([reader]);
    const first = (await api().get('/v1/agents?limit=1').expect(200)).body;
    const rest = (await api().get(`/v1/agents?limit=1&after=${first.next_cursor}`).expect(200)).body;
    expect([...first.data, ...rest.data]).toEqual([reader, writer]);

    const later = await changed(writer, { definition: { name: 'author' }, if_version: 1 });
    expect(later).toMatchObject({ version: 2, definition: { name: 'author' } });
    const { body: stale } = await api().patch(`/v1/agents/${writer.id}`).send({ if_version: 1 }).expect(409);
    expect(stale.code).toBe('agent_changed');
    const { body: taken } = await api()
      .patch(`/v1/agents/${writer.id}`)
      .send({ definition: { name: 'Reader' } })
      .expect(409);
    expect(taken.code).toBe('agent_name_taken');

    await api().delete(`/v1/agents/${writer.id}`).expect(204);
    expect((await api().get(`/v1/agents/${writer.id}`).expect(404)).body.code).toBe('agent_not_found');
  });

  it.each([
    ['definition', {}],
    ['definition.name', { definition: { name: ' ' } }],
    ['definition.colour', { definition: { name: 'a', colour: 'red' } }],
    ['definition.tools', { definition: { name: 'a', tools: ['fly'] } }],
    ['definition.model', { definition: { name: 'a', model: 'nowhere/model' } }],
    ['definition.budget.usd', { definition: { name: 'a', budget: { usd: 3 } } }],
  ])('are refused with the name of the wrong field: %s', async (field, body) => {
    const { body: problem } = await api().post('/v1/agents').send(body).expect(422);

    expect(problem.code).toBe('invalid_request');
    expect(JSON.stringify(problem.errors)).toContain(field.split('.').at(-1));
  });

  it('are refused where the secret of their repository may not go to its host', async () => {
    const secret = { name: 'GIT_PASSWORD', value: 'password-1f2e', methods: ['GET', 'POST'] };
    const placed = { allowed_hosts: ['github.com'], placement: { in: 'basic', username: 'robot' } };
    await api()
      .post('/v1/secrets')
      .send({ ...secret, ...placed })
      .expect(201);
    const repository = (host: string) => ({ url: `https://${host}/you/site.git`, secret: 'GIT_PASSWORD' });
    const definition = (host: string) => ({ name: 'a', environment: { repository: repository(host) } });

    const { body: refused } = await api()
      .post('/v1/agents')
      .send({ definition: definition('evil.example') })
      .expect(422);
    expect(refused.errors).toMatchObject([
      { field: 'definition.environment.repository.secret', message: expect.stringContaining('evil.example') },
    ]);
    const stored = await made(definition('github.com'));
    await api()
      .patch(`/v1/agents/${stored.id}`)
      .send({ definition: definition('evil.example') })
      .expect(422);
    const { body: run } = await api()
      .post('/v1/runs')
      .send({ input: 'Go.', environment: { repository: repository('evil.example') } })
      .expect(422);
    expect(run.errors).toMatchObject([{ field: 'environment.repository.secret' }]);
  });

  it('are created once for one Idempotency-Key', async () => {
    const send = () =>
      api()
        .post('/v1/agents')
        .set('Idempotency-Key', 'once')
        .send({ definition: { name: 'once' } });
    const [first, second] = [await send().expect(201), await send().expect(201)];

    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });
});

describe('versions', () => {
  it('are listed, compared and activated again', async () => {
    const writer = await made({ name: 'writer', llm: { temperature: 0.1 } });
    await changed(writer, { definition: { name: 'writer', llm: { temperature: 0.9 }, task: 'Write.' } });
    const path = `/v1/agents/${writer.id}`;

    const { data } = (await api().get(`${path}/versions`).expect(200)).body as { data: AgentVersion[] };
    expect(data.map(({ version, is_active: isActive }) => [version, isActive])).toEqual([
      [2, true],
      [1, false],
    ]);
    expect((await api().get(`${path}/compare?from=1&to=2`).expect(200)).body).toEqual({
      ...{ from: 1, to: 2, from_note: null, to_note: null },
      changes: [
        { op: 'replace', path: '/llm/temperature', before: 0.1, after: 0.9 },
        { op: 'add', path: '/task', after: 'Write.' },
      ],
    });
    const back = await api().post(`${path}/versions/1/activate`).send({ if_version: 2 }).expect(200);
    expect(back.body).toMatchObject({ version: 1, latest_version: 2, definition: writer.definition });
    await api().post(`${path}/versions/1/activate`).send({ if_version: 2 }).expect(409);
    for (const number of ['3', '0', 'x', '99999999999']) {
      const { body } = await api().get(`${path}/versions/${number}`).expect(404);
      expect(body.code).toBe('agent_version_not_found');
    }
  });
});

describe('an agent applied by its name', () => {
  const apply = (body: object) => api().put('/v1/agents/by-name/the%20writer').send(body);

  it('is created, left as it is by the same body, and changed by another', async () => {
    const created = await apply({ definition: { task: 'Write.' }, is_default: true }).expect(201);
    const same = await apply({ definition: { task: 'Write.' }, is_default: true }).expect(200);
    const other = await apply({ definition: { task: 'Read.' } }).expect(200);

    expect(same.body).toEqual(created.body);
    expect(other.body).toMatchObject({
      ...{ id: created.body.id, version: 2, is_default: true },
      definition: { name: 'the writer', task: 'Read.' },
    });
  });

  it('is one per account', async () => {
    const mine = await apply({ definition: {} }).expect(201);
    const theirs = await gateway
      .as(await gateway.toKey('another'))
      .put('/v1/agents/by-name/the%20writer')
      .send({ definition: { task: 'Theirs.' } })
      .expect(201);

    expect(theirs.body.id).not.toBe(mine.body.id);
    expect((await api().get(`/v1/agents/${mine.body.id}`).expect(200)).body).toEqual(mine.body);
  });
});

describe('the agent of a run', () => {
  it('is that of the request, else of the thread, else of the account', async () => {
    const [asked, usual] = [await made({ name: 'asked', model: 'demo/plain' }), await made({ name: 'usual' })];
    const builtIn = await ran();
    await changed(usual, { is_default: true });
    const byAccount = await ran();
    const byRequest = await ran({ agent_id: asked.id, limits: { max_iterations: 3 } });
    const inline = await ran({ agent: { name: 'inline' } });
    const { body: thread } = await api().post('/v1/threads').send({ agent_id: asked.id }).expect(201);
    const byThread = await ran({ thread_id: thread.id });

    expect([builtIn, byAccount, byRequest, inline, byThread].map((run) => run.agent_id)).toEqual([
      ...[null, usual.id, asked.id, null, asked.id],
    ]);
    expect(byRequest).toMatchObject({
      ...{ agent_version: 1, model: 'demo/plain' },
      settings: { agent: { name: 'asked' }, limits: { max_iterations: 3 } },
    });
    expect(inline.settings.agent).toEqual({ name: 'inline' });
    const readAgent = async (id: string) => (await api().get(`/v1/threads/${id}/agent`).expect(200)).body;
    expect(await readAgent(byRequest.thread_id)).toEqual({ source: 'thread', agent: asked });
    expect(await readAgent(byAccount.thread_id)).toMatchObject({ source: 'account', agent: { id: usual.id } });
  });

  it('is the present one, also after runs of the one before were refused', async () => {
    const writer = await made({ name: 'writer', secrets: ['ABSENT'] });
    const refused = { input: 'Go.', agent_id: writer.id };
    await api().post('/v1/runs').send(refused).expect(422);
    await api().post('/v1/runs').send(refused).expect(422);
    await changed(writer, { definition: { name: 'writer', task: 'Write.' } });

    const [run, again] = [await ran({ agent_id: writer.id }), await ran({ agent_id: writer.id })];

    for (const { agent_version, settings } of [run, again])
      expect([agent_version, settings.agent.task]).toEqual([2, 'Write.']);
  });

  it('stays what it was when the agent is changed and deleted', async () => {
    const writer = await made({ name: 'writer', system_prompt: 'One.' });
    const run = await ran({ agent_id: writer.id });
    await changed(writer, { definition: { name: 'writer', system_prompt: 'Two.' } });
    await api().delete(`/v1/agents/${writer.id}`).expect(204);

    expect((await api().get(`/v1/runs/${run.id}`).expect(200)).body).toEqual(run);
    expect(run).toMatchObject({
      agent_id: writer.id,
      agent_version: 1,
      settings: { agent: { system_prompt: 'One.' } },
    });
    const { body: log } = await api().get(`/v1/runs/${run.id}/events`).expect(200);
    expect(log.data[0]).toMatchObject({ type: 'run.created', data: { agent_id: writer.id, agent_version: 1 } });
    const { body } = await api().get(`/v1/threads/${run.thread_id}/agent`).expect(200);
    expect(body).toEqual({ source: 'built_in', agent: null });
  });

  it('is refused where it is not there, and beside a description of another', async () => {
    const writer = await made({ name: 'writer' });
    const both = await api().post('/v1/runs').send({ input: 'Go.', agent_id: writer.id, agent: {} }).expect(422);
    expect(both.body.errors).toEqual([{ field: 'agent_id', message: 'give agent_id or agent, not both' }]);

    const body = { input: 'Go.', agent_id: 'agt_none' };
    expect((await api().post('/v1/runs').send(body).expect(404)).body.code).toBe('agent_not_found');
  });

  it('can be named over a socket', async () => {
    const writer = await made({ name: 'writer' });
    const answer = await gateway.socket(key).emitWithAck('run.create', { input: 'Go.', agent_id: writer.id });

    expect(answer).toMatchObject({ ok: true, data: { agent_id: writer.id, agent_version: 1 } });
  });
});

describe('attack: tenants', () => {
  it('an agent of another account, run, read, activated and compared over REST', async () => {
    const writer = await made({ name: 'writer', system_prompt: 'A secret of the account.' }, { is_default: true });
    const { thread_id: thread } = await ran();
    const stranger = gateway.as(await gateway.toKey('stranger'));
    const refusals = [
      await stranger.post('/v1/runs').send({ input: 'Go.', agent_id: writer.id }),
      await stranger.post('/v1/threads').send({ agent_id: writer.id }),
      await stranger.get(`/v1/threads/${thread}/agent`),
      await stranger.post(`/v1/agents/${writer.id}/versions/1/activate`).send({}),
      await stranger.get(`/v1/agents/${writer.id}/compare?from=1&to=1`),
      await stranger.get('/v1/agents?search=writer'),
    ];

    expect(refusals.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 200]);
    expect(JSON.stringify(refusals.map(({ body }) => body))).not.toContain('secret');
    const { body: run } = await stranger.post('/v1/runs').send({ input: 'Go.' }).expect(202);
    expect(run).toMatchObject({ agent_id: null, settings: { agent: {} } });
  });

  it('an agent changed and deleted with a key that only reads', async () => {
    const writer = await made({ name: 'writer' });
    const { body } = await api()
      .post('/v1/api-keys')
      .send({ name: 'r', scopes: ['read'] })
      .expect(201);
    const reader = gateway.as(body.key as string);

    await reader.get(`/v1/agents/${writer.id}`).expect(200);
    await reader.patch(`/v1/agents/${writer.id}`).send({ is_default: true }).expect(403);
    await reader.put('/v1/agents/by-name/writer').send({ definition: {} }).expect(403);
    await reader.delete(`/v1/agents/${writer.id}`).expect(403);
  });
});

describe('the headers of a stored agent’s MCP servers', () => {
  const secret = 'Bearer very-secret-token';
  const url = 'https://tickets.example/mcp';
  const withHeaders = (headers: Record<string, string | null>, at = url): AgentDefinition => ({
    name: 'assistant',
    mcp_servers: [{ name: 'tickets', transport: 'streamable_http', url: at, headers }],
  });
  const hidden = { definition: { mcp_servers: [{ name: 'tickets', headers: { authorization: null } }] } };
  const apply = (definition: AgentDefinition) => {
    const { name, ...declared } = definition;
    return api().put(`/v1/agents/by-name/${name}`).send({ definition: declared });
  };
  const sealedIn = (run: Run): string => {
    const [server] = run.settings.mcp_servers ?? [];
    return (server && 'sealed_headers' in server && server.sealed_headers?.['authorization']) || 'none';
  };

  it('are sealed, shown by no request, and given to its runs', async () => {
    const assistant = await made(withHeaders({ authorization: secret }));
    expect(assistant).toMatchObject(hidden);
    const paths = ['', '/versions', '/versions/1'].map((path) => `/v1/agents/${assistant.id}${path}`);
    for (const path of paths) {
      const { text } = await api().get(path).expect(200);
      expect(text).toContain('"authorization":null');
      expect(text).not.toContain('sealed');
    }
    const rows = await gateway.ownerDatabase.sql.query('select agent_versions::text as text from agent_versions');
    expect(JSON.stringify(rows)).not.toContain('very-secret');

    const run = await ran({ agent_id: assistant.id });
    const { sql } = gateway.ownerDatabase;
    const [row] = await sql.query<{ account_id: string }>('select account_id from runs where id = $1', [run.id]);
    const purpose = mcpHeaderPurpose(accountId.parse(row?.account_id), url, 'authorization');
    expect(new SecretBox(secretsKey, 'mcp').open(sealedIn(run), purpose)).toBe(secret);
    expect(sealedIn(await ran({ agent_id: assistant.id, mcp_servers: [] }))).toBe('none');
  });

  it('stay for a null, and make a version only where a value changes', async () => {
    const { body: first } = await apply(withHeaders({ authorization: secret })).expect(201);
    for (const value of [secret, null]) {
      const { body } = await apply(withHeaders({ authorization: value })).expect(200);
      expect(body.version).toBe(1);
    }
    const { body: moved } = await apply(withHeaders({ authorization: null }, `${url}/v2`)).expect(200);
    expect(moved.version).toBe(2);
    const { body: renewed } = await apply(withHeaders({ authorization: 'Bearer another-token' }, `${url}/v2`));
    expect(renewed.version).toBe(3);
    const [one, three] = [await ran({ agent_id: first.id }), await ran({ agent_id: first.id })].map(sealedIn);
    expect(one).toBe(three);
  });

  it.each([
    [
      'a server at another origin',
      (): AgentDefinition => withHeaders({ authorization: null }, 'https://evil.example/'),
    ],
    ['a header that it does not have', (): AgentDefinition => withHeaders({ authorization: null, 'x-key': null })],
  ])('are not kept for %s', async (_, other) => {
    await made(withHeaders({ authorization: secret }));
    const { body } = await apply(other()).expect(422);
    expect(body.errors[0].field).toMatch(/^definition\.mcp_servers\.0\.headers\./);
  });
});
