import { setTimeout as delay } from 'node:timers/promises';
import { type ApprovalId, type Message, type Run, type RunId, approvalId } from '@rondo/contract';
import { type Route, apiRoutes, facadeRoutes, pathParams } from '@rondo/contract/api';
import { pngSource } from '@rondo/contract/testing';
import { nextEvent } from '../testing/next-event';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);
/** What another person has, of the same account. */
let other: { run: Run; approval: ApprovalId; file: string; image: string; sandbox: string };
beforeAll(async () => {
  other = await beginForBob();
});

const all = ['read', 'send', 'answer', 'files'];
const [ann, bob] = ['ann', 'bob'];

interface MadeToken {
  readonly id: string;
  readonly token: string;
}

const newToken = async (wanted: object): Promise<MadeToken> =>
  (
    await gateway
      .as()
      .post('/v1/client-tokens')
      .send({ scopes: all, ...wanted })
      .expect(201)
  ).body as MadeToken;

/** Requests with a new token. */
const asClient = async (wanted: object) => gateway.as((await newToken(wanted)).token);
type Client = Awaited<ReturnType<typeof asClient>>;

const startRun = async (as: Client, body: object = {}) =>
  (
    await as
      .post('/v1/runs')
      .send({ input: 'Go.', ...body })
      .expect(202)
  ).body as Run;

const upload = async (as: Client): Promise<string> =>
  (await as.post('/v1/files').attach('file', Buffer.from('secret plans'), 'plans.txt').expect(201)).body.id as string;

async function beginForBob() {
  const client = await asClient({ user: bob });
  const run = await startRun(client, { input: [{ type: 'image', source: pngSource() }] });
  const { body: messages } = await client.get(`/v1/threads/${run.thread_id}/messages`).expect(200);
  const [block] = (messages as { data: Message[] }).data[0]?.content ?? [];
  const image = block?.type === 'image' && block.source.type === 'blob' ? block.source.sha256 : 'none';
  await gateway.parts.sandboxes.keep(run.thread_id, 'exe_away');
  const { body: sandboxes } = await gateway.as().get('/v1/sandboxes').expect(200);
  const sandbox = String((sandboxes as { data: { id: string }[] }).data[0]?.id);
  const [id] = await (await worker.claim(run.id)).requestApprovals();
  return { run, approval: approvalId.parse(id), file: await upload(client), image, sandbox };
}

const listIds = async (as: Client, path: string) =>
  ((await as.get(path).expect(200)).body.data as { id: string }[]).map(({ id }) => id);

describe('a client token', () => {
  it('of a person reaches their threads, and begins more of them', async () => {
    const client = await asClient({ user: ann });
    const { body: thread } = await client.post('/v1/threads').send({ title: 'Mine' }).expect(201);
    const run = await startRun(client, { thread_id: thread.id });
    const begun = await startRun(client, { metadata: { user: bob } });
    const given = await gateway.createRun({ input: 'Go.', user: ann });

    expect([thread.user, run.user, begun.user]).toEqual([ann, ann, ann]);
    expect(await listIds(client, '/v1/threads')).toEqual([given.thread_id, begun.thread_id, thread.id]);
    expect(await listIds(client, '/v1/runs')).toEqual([given.id, begun.id, run.id]);
    expect(await listIds(client, `/v1/runs?user=${bob}`)).toEqual([]);
    expect(await listIds(client, `/v1/runs?thread_id=${other.run.thread_id}`)).toEqual([]);
    await client.get(`/v1/runs/${given.id}/events`).expect(200);
    await client.post(`/v1/runs/${begun.id}/stop`).send({}).expect(202);
    await client.post(`/v1/threads/${given.thread_id}/messages`).send({ content: 'And?' }).expect(201);
  });

  it('of a thread reaches that one alone', async () => {
    const { thread_id } = await gateway.createRun({ input: 'Go.' });
    const client = await asClient({ thread_id });
    const run = await startRun(client, { on_active_run: 'queue' });

    expect(run.thread_id).toBe(thread_id);
    expect(await listIds(client, '/v1/threads')).toEqual([thread_id]);
    expect(await listIds(client, '/v1/runs')).toHaveLength(2);
    await client.post('/v1/threads').send({}).expect(403);
    await client.post('/v1/runs').send({ input: 'Go.', thread_id: other.run.thread_id }).expect(404);
  });

  it('does what its scopes say', async () => {
    const { thread_id } = await gateway.createRun({ input: 'Go.', user: ann });
    const reader = await asClient({ user: ann, scopes: ['read'] });
    const sender = await asClient({ user: ann, scopes: ['send'] });

    await reader.get(`/v1/threads/${thread_id}`).expect(200);
    const { body } = await reader.post(`/v1/threads/${thread_id}/messages`).send({ content: 'x' }).expect(403);
    expect(body.detail).toContain('the scope send');
    await reader.post('/v1/files').attach('file', Buffer.from('x'), 'x.txt').expect(403);
    await sender.post(`/v1/threads/${thread_id}/messages`).send({ content: 'x' }).expect(201);
    await sender.get('/v1/runs').expect(403);
    await sender
      .post('/v1/runs')
      .send({ input: 'Go.', files: [other.file] })
      .expect(403);
  });

  it('decides an approval, with files of its person alone', async () => {
    const client = await asClient({ user: bob });
    const { arguments_hash } = (await client.get(`/v1/approvals/${other.approval}`).expect(200)).body;
    const run = await startRun(client, { files: [other.file] });

    expect(run.user).toBe(bob);
    await client.get(`/v1/files/${other.file}/content`).expect(200);
    await client.get(`/v1/blobs/${other.image}`).expect(200);
    await (await asClient({ user: ann })).get(`/v1/approvals/${other.approval}`).expect(404);
    await (
      await asClient({ user: bob, scopes: ['read'] })
    )
      .post(`/v1/approvals/${other.approval}/decision`)
      .send({ decision: 'deny', arguments_hash })
      .expect(403);
  });

  it('lists the calls of its person that wait for a result', async () => {
    const caller_tools = [{ name: 'get_weather', description: 'The weather of a city.' }];
    const run = await gateway.createRun({ input: 'Go.', user: 'dora', caller_tools });
    const calls = await (await worker.claim(run.id)).askCaller(['get_weather']);
    const dora = await asClient({ user: 'dora' });

    expect(await listIds(dora, '/v1/tool-calls')).toEqual(calls);
    expect(await listIds(await asClient({ thread_id: run.thread_id }), '/v1/tool-calls')).toEqual(calls);
    for (const others of [{ user: ann }, { thread_id: other.run.thread_id }]) {
      const client = await asClient(others);
      expect(await listIds(client, '/v1/tool-calls')).toEqual([]);
      expect(await listIds(client, `/v1/tool-calls?run_id=${run.id}`)).toEqual([]);
    }
    await dora.post(`/v1/tool-calls/${calls[0]}/result`).send({ output: 'Rain.' }).expect(200);
  });

  it('shows nothing of how the agent is told to act', async () => {
    const run = await gateway.createRun({ input: 'Go.', user: ann, agent: { name: 'coder', system_prompt: 'Hush.' } });
    const client = await asClient({ user: ann });
    const answers = [(await client.get(`/v1/runs/${run.id}`)).body, (await client.get('/v1/runs')).body];

    expect(answers[0].settings.agent).toEqual({ name: 'coder' });
    expect(JSON.stringify(answers)).not.toContain('Hush.');
  });

  it('is listed without its secret, and made by writers only', async () => {
    const { id, token } = await newToken({ user: 'carl', expires_in: 60 });
    const { body } = await gateway.as().get('/v1/client-tokens?user=carl').expect(200);

    expect(body.data).toEqual([expect.objectContaining({ id, user: 'carl', thread_id: null, revoked_at: null })]);
    expect(JSON.stringify(body)).not.toContain(token);
    const reader = gateway.as(await gateway.toKey('reader', ['read']));
    await reader
      .post('/v1/client-tokens')
      .send({ user: ann, scopes: ['read'] })
      .expect(403);
    for (const wrong of [{}, { user: ann, thread_id: other.run.thread_id }, { user: ann, scopes: [] }])
      await gateway
        .as()
        .post('/v1/client-tokens')
        .send({ scopes: ['read'], ...wrong })
        .expect(422);
  });

  it('has the rate of its person, however many tokens they have', async () => {
    const strict = await RunningGateway.start({ CLIENT_RATE_LIMIT_PER_SECOND: 0.5 });
    try {
      const wanted = { user: ann, scopes: ['read'] };
      const tokens = await Promise.all([1, 2].map(() => strict.as().post('/v1/client-tokens').send(wanted)));
      const statuses: number[] = [];
      for (const { body } of tokens) statuses.push((await strict.as(body.token as string).get('/v1/runs')).status);

      expect(statuses).toEqual([200, 429]);
      await strict.as().get('/v1/runs').expect(200);
    } finally {
      await strict.close();
    }
  });

  it('ends with its socket when it expires', async () => {
    const { token } = await newToken({ user: ann, expires_in: 2 });
    const socket = gateway.socket(token);
    await nextEvent(socket, 'connect');
    expect(await nextEvent(socket, 'disconnect')).toContain('io server disconnect');
    await gateway.as(token).get('/v1/runs').expect(401);
  });

  it('ends at once where it is revoked, and soon on every other gateway, with what it keeps open', async () => {
    const elsewhere = await RunningGateway.start({ DATABASE_URL: gateway.parts.config.DATABASE_URL });
    try {
      const { id, token } = await newToken({ user: ann });
      const { id: runId } = await startRun(gateway.as(token));
      const [near, far] = [gateway.socket(token), elsewhere.socket(token)];
      await Promise.all([near, far].map((socket) => nextEvent(socket, 'connect')));
      const stream = await fetch(`${elsewhere.url}/v1/runs/${runId}/stream`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const cut = Promise.all([near, far].map((socket) => nextEvent(socket, 'disconnect')));

      await gateway.as().delete(`/v1/client-tokens/${id}`).expect(204);
      await gateway.as(token).get('/v1/runs').expect(401);
      await cut;
      await stream.text();
      while ((await elsewhere.as(token).get('/v1/runs')).status === 200) await delay(50); // until what it has looked up is a second old
    } finally {
      await elsewhere.close();
    }
  });
});

/** A path with ids of the other person where they have such a thing, else with ids that nothing has. */
function toPath(path: string, ids: Readonly<Record<string, string>>): string {
  const examples: Readonly<Record<string, { example: string }>> = pathParams;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? examples[name]?.example ?? 'unknown');
}

const send = (as: Client, { method, path }: Pick<Route, 'method' | 'path'>, ids: Readonly<Record<string, string>>) => {
  const verbs = { GET: as.get, POST: as.post, PUT: as.put, PATCH: as.patch, DELETE: as.delete };
  return verbs[method](toPath(path, ids));
};

const anyId = /\w+_\w{20,}|[0-9a-f]{64}/g;

describe('attack: client tokens', () => {
  const routes: readonly Route[] = [...Object.values(apiRoutes), ...Object.values(facadeRoutes)];

  it('a token calls every route that is not meant for browsers', async () => {
    const client = await asClient({ user: ann });
    const closed = routes.filter(({ role, client: scope }) => role !== 'open' && scope === undefined);
    expect(closed.length).toBeGreaterThan(100);

    for (const route of closed) expect([route.id, (await send(client, route, {})).status]).toEqual([route.id, 403]);
  });

  it("a token calls every route with the ids of another person's things, and of nothing", async () => {
    const client = await asClient({ user: ann });
    const call = `call_${other.approval.slice('apr_'.length)}`;
    const theirs = {
      ...{ thread_id: other.run.thread_id, run_id: other.run.id, file_id: other.file },
      ...{ approval_id: other.approval, tool_call_id: call, sha256: other.image, sandbox_id: other.sandbox },
    };
    const open = routes.filter(({ client: scope, path }) => scope !== undefined && path.includes('{'));
    expect(open.length).toBeGreaterThan(15);

    for (const route of open) {
      const [there, nowhere] = [await send(client, route, theirs), await send(client, route, {})].map(
        ({ status, body }) => ({ status, code: String(body.code), says: String(body.detail).replaceAll(anyId, 'id') }),
      );
      expect([route.id, there]).toEqual([route.id, { ...nowhere, status: 404 }]);
    }
    expect((await gateway.read(other.run.id)).status).toBe('waiting_input');
  });

  it("a token names another person's thread, file or image in a body, or another person", async () => {
    const client = await asClient({ user: ann });
    const input = 'Go.';
    await client.post('/v1/runs').send({ input, thread_id: other.run.thread_id }).expect(404);
    const refused = [
      { input, files: [other.file] },
      { input, user: bob },
      { input: [{ type: 'image', source: { type: 'blob', sha256: other.image } }] },
    ];
    for (const body of refused) await client.post('/v1/runs').send(body).expect(422);
    await client.post('/v1/threads').send({ user: bob }).expect(422);
  });

  it('a token chooses tools, secrets, an agent, a model or a prompt', async () => {
    const client = await asClient({ user: ann });
    const wishes = [
      { tools: ['execute_command'] },
      { secrets: ['PAYROLL'] },
      { agent: { system_prompt: 'Tell all.' } },
      { agent_id: pathParams.agent_id.example },
      { model: 'openai/gpt-5' },
      { budget: { usd: 1_000 } },
      { mcp_servers: [{ name: 'mine', url: 'https://mcp.example.com' }] },
    ];
    for (const wish of wishes)
      await client
        .post('/v1/runs')
        .send({ input: 'Go.', ...wish })
        .expect(422);
  });

  it("a socket with a token subscribes to another person's run, or acts on it", async () => {
    const { token } = await newToken({ user: ann });
    const socket = gateway.socket(token);
    const ask = async (name: string, body: object) => {
      const answer = (await socket.emitWithAck(name, body)) as { ok: boolean; error?: { code: string } };
      return answer.error?.code ?? 'done';
    };
    const { id: run_id, thread_id } = other.run;

    expect(await ask('run.subscribe', { run_id })).toBe('run_not_found');
    expect(await ask('run.stop', { run_id })).toBe('run_not_found');
    expect(await ask('run.input', { run_id, content: 'x' })).toBe('run_not_found');
    expect(await ask('run.budget', { run_id, usd: 1 })).toBe('forbidden');
    expect(await ask('run.create', { input: 'Go.', thread_id })).toBe('thread_not_found');
    expect(await ask('run.create', { input: 'Go.', secrets: ['PAYROLL'] })).toBe('invalid_request');
    const decision = { approval_id: other.approval, decision: 'approve', arguments_hash: 'a'.repeat(64) };
    expect(await ask('approval.decide', decision)).toBe('approval_not_found');
    const { data } = (await socket.emitWithAck('run.create', { input: 'Go.', subscribe: true })) as { data: Run };
    expect(data.user).toBe(ann);
  });

  it("a token reads another person's answer by their idempotency key", async () => {
    const [first, second] = [await asClient({ user: bob }), await asClient({ user: ann })];
    const create = (as: Client) =>
      as.post('/v1/runs').set('Idempotency-Key', 'the same').send({ input: 'Go.' }).expect(202);
    const made = (await create(first)).body as { id: RunId };

    expect((await create(second)).body.id).not.toBe(made.id);
    expect((await create(first)).body.id).toBe(made.id);
  });

  it('a token in the address, and a forged one', async () => {
    const { token } = await newToken({ user: ann });
    await gateway.anonymous.get(`/v1/runs?token=${token}`).expect(401);
    await gateway.anonymous.get(`/v1/runs?access_token=${token}`).expect(401);
    await gateway
      .as(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)
      .get('/v1/runs')
      .expect(401);
    const socket = gateway.socket('none', { token });
    expect(String((await nextEvent(socket, 'connect_error'))[0])).toContain('unauthorized');
  });
});
