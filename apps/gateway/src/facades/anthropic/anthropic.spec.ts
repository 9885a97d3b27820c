import Anthropic from '@anthropic-ai/sdk';
import { type Run, type RunId, runId } from '@rondo/contract';
import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestWorker, type WorkerRun } from '../../testing/test-worker';

let gateway: RunningGateway;
let other: RunningGateway;
let worker: TestWorker;
let environment: string;
beforeAll(async () => {
  gateway = await RunningGateway.start();
  other = await RunningGateway.start({ DATABASE_URL: gateway.parts.config.DATABASE_URL });
  worker = await TestWorker.start(gateway.database);
  environment = (await client().beta.environments.create({ name: 'usual' })).id;
});
afterAll(async () => {
  await worker.close();
  await other.close();
  await gateway.close();
});

const client = (at: { url: string } = gateway, more: object = {}) =>
  new Anthropic({ baseURL: `${at.url}/anthropic`, apiKey: adminKey, ...more });

const weather = {
  type: 'custom',
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
} as const;

const createAgent = (more: object = {}) =>
  client().beta.agents.create({ name: 'Coder', model: 'demo/coder', system: 'Be brief.', ...more });

async function createSession(text?: string, agent: object = {}) {
  const { id } = await createAgent(agent);
  return client().beta.sessions.create({
    agent: id,
    environment_id: environment,
    ...(text !== undefined && { initial_events: [message(text)] }),
  });
}

const message = (text: string) => ({ type: 'user.message' as const, content: [{ type: 'text' as const, text }] });
const send = (session: string, ...events: Anthropic.Beta.Sessions.EventSendParams['events']) =>
  client().beta.sessions.events.send(session, { events });

async function newestRun(session: string): Promise<Run> {
  const { body } = await gateway.as().get(`/v1/runs?limit=1&thread_id=${session}`).expect(200);
  return (body as { data: Run[] }).data[0] as Run;
}
const claim = async (session: string): Promise<WorkerRun> => worker.claim((await newestRun(session)).id);

type Event = Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent;
async function list(session: string, at = gateway): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of client(at).beta.sessions.events.list(session, { limit: 3 })) events.push(event);
  return events;
}
async function listSaid(session: string) {
  const said = (await list(session)).flatMap((event) => (event.type === 'user.message' ? [event] : []));
  return said.map(({ id, content }) => ({ id, texts: content.map((block) => (block as { text: string }).text) }));
}
const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);

/** Follows a session. `until` resolves to everything since the beginning once an event of the type has come, so many times. */
async function follow(session: string, params: object = {}, at = gateway) {
  const stream = await client(at).beta.sessions.events.stream(session, params);
  const events: { type: string; id?: string }[] = [];
  const reader = stream[Symbol.asyncIterator]();
  return {
    events,
    until: async (type: string, times = 1) => {
      while (events.filter((event) => event.type === type).length < times) {
        const { value, done } = await reader.next();
        if (done) throw new Error(`the stream ended before ${type}`);
        events.push(value);
      }
      return events;
    },
    leave: () => stream.controller.abort(),
  };
}

const reason = async (promise: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Anthropic.APIError) return error;
  throw new Error('it was not refused');
};

describe('a session of Claude Managed Agents', () => {
  it('streams what happens, and lists the same', async () => {
    const { id } = await createSession();
    const stream = await follow(id, { event_deltas: ['agent.message'] });
    const { data = [] } = await send(id, message('Hello?'));
    const run = await claim(id);
    await run.append([
      { type: 'iteration.started', iteration: 1, data: { iteration: 1, message_id: 'msg_x' as never } },
    ]);
    await stream.until('span.model_request_start');
    run.streamText('Hello, ');
    await stream.until('event_delta');
    run.streamText('world.');
    await run.finishMessage();
    expect((await client().beta.sessions.retrieve(id)).status).toBe('running');
    await run.complete();
    const events = await stream.until('session.status_idle');
    stream.leave();

    const keptOnes = events.filter(({ type }) => !type.startsWith('event_'));
    expect(types(keptOnes)).toEqual([
      'user.message', 'session.status_running', 'span.model_request_start', 'agent.message', 'span.model_request_end',
      'session.status_idle',
    ]); // prettier-ignore
    expect(await list(id)).toEqual(keptOnes);
    expect(await list(id, other)).toEqual(keptOnes);
    expect(keptOnes[0]?.id).toBe(data[0]?.id);
    const previews = events.filter(({ type }) => type.startsWith('event_'));
    expect(types(previews)[0]).toBe('event_start');
    const text = previews.flatMap((each) =>
      'delta' in each ? [(each.delta as { content: { text: string } }).content.text] : [],
    );
    expect('Hello, world.'.startsWith(text.join(''))).toBe(true);
    expect(await client().beta.sessions.retrieve(id)).toMatchObject({
      status: 'idle',
      type: 'session',
      agent: { name: 'Coder', version: 1 },
    });
  });

  it('has only what came after a stream was opened, and resumes after an event at another gateway', async () => {
    const { id } = await createSession('First.');
    const one = await claim(id);
    await one.complete();
    const late = await follow(id);
    await send(id, message('Second.'));
    await (await claim(id)).complete();
    const seen = await late.until('session.status_idle');
    late.leave();
    expect(types(seen)).toEqual(['user.message', 'session.status_running', 'session.status_idle']);

    const all = await list(id);
    const response = await fetch(`${other.url}/anthropic/v1/sessions/${id}/events/stream`, {
      headers: { 'x-api-key': adminKey, 'Last-Event-ID': '1.3.1' },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('"end_turn"') || text.split('"end_turn"').length < 3) {
      const { value, done } = await reader.read();
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    await reader.cancel();
    const resumed = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Event);
    expect(resumed).toEqual(all.slice(2));
  });

  it('reads a message while it works, under the id that its sender was given', async () => {
    const { id } = await createSession('One.');
    const run = await claim(id);
    const { data = [] } = await send(id, message('Two.'));
    await run.read('Two.', (await newestRun(id)).id);
    await run.complete({ reason: 'max_iterations' }); // a reply ends it only after another claim
    const said = await listSaid(id);
    expect(said.map(({ texts }) => texts)).toEqual([['One.'], ['Two.']]);
    expect(data.map((event) => event.id)).toEqual([said[1]?.id]);
    expect(said[0]?.id).not.toBe(said[1]?.id);
    expect(await client().beta.sessions.retrieve(id)).toMatchObject({ status: 'idle' });
  });

  it('begins a turn with what it has not read, several messages of a request as one', async () => {
    const { id } = await createSession('One.');
    const first = await claim(id);
    const { data = [] } = await send(id, message('Two.'), message('Three.'));
    await first.complete({ reason: 'max_iterations' });
    const second = await claim(id);
    expect(second.claim.runId).not.toBe(first.claim.runId);
    await second.complete();
    const said = await listSaid(id);
    expect(said.map(({ texts }) => texts)).toEqual([['One.'], ['Two.', 'Three.']]);
    expect(data.map((event) => event.id)).toEqual([said[1]?.id, said[1]?.id]);
  });

  it('is idle while it waits for an answer, whatever it was told', async () => {
    const { id } = await createSession('Go.');
    await (await claim(id)).requestApprovals();
    await send(id, message('And be quick.'));
    expect(await client().beta.sessions.retrieve(id)).toMatchObject({ status: 'idle' });
  });

  it.each(['allow', 'deny'] as const)('waits for a confirmation: %s', async (result) => {
    const { id } = await createSession('Go.');
    const run = await claim(id);
    const stream = await follow(id);
    await run.requestApprovals(2);
    await stream.until('session.status_idle');
    const uses = stream.events.filter(({ type }) => type === 'agent.tool_use');
    expect(uses).toMatchObject([{ name: 'bash', evaluated_permission: 'ask' }, { name: 'bash' }]);
    const [one = '', two = ''] = uses.map((use) => use.id ?? '');
    expect(stream.events.at(-1)).toMatchObject({ stop_reason: { type: 'requires_action', event_ids: [one, two] } });

    const confirm = (tool_use_id: string) =>
      send(id, {
        type: 'user.tool_confirmation',
        tool_use_id,
        result,
        ...(result === 'deny' && { deny_message: 'No.' }),
      });
    await confirm(one);
    await stream.until('session.status_idle', 2);
    expect(stream.events.at(-1)).toMatchObject({ stop_reason: { type: 'requires_action', event_ids: [two] } });
    expect((await reason(confirm(one))).status).toBe(400);
    await confirm(two);
    await stream.until('session.status_running');
    stream.leave();
    const confirmations = (await list(id)).filter(({ type }) => type === 'user.tool_confirmation');
    expect(confirmations).toMatchObject([
      { tool_use_id: one, result },
      { tool_use_id: two, result },
    ]);
    expect(
      await reason(send(id, { type: 'user.tool_confirmation', tool_use_id: 'call_unknown', result })),
    ).toMatchObject({
      status: 400,
    });
  });

  it('gives calls of custom tools to its client', async () => {
    const { id } = await createSession('Weather?', { tools: [weather] });
    const run = await claim(id);
    const stream = await follow(id);
    await run.askCaller(['get_weather', 'get_weather']);
    await stream.until('session.status_idle');
    const uses = stream.events.filter(({ type }) => type === 'agent.custom_tool_use');
    expect(uses).toMatchObject([{ name: 'get_weather' }, { name: 'get_weather' }]);
    const results = uses.map(({ id: custom_tool_use_id = '' }) => ({
      type: 'user.custom_tool_result' as const,
      custom_tool_use_id,
      content: [{ type: 'text' as const, text: 'Sun.' }],
    }));
    await send(id, ...results);
    await stream.until('session.status_running');
    stream.leave();
    expect(types(stream.events).filter((type) => type === 'user.custom_tool_result')).toHaveLength(2);
    expect((await reason(send(id, ...results))).status).toBe(400);
  });

  it('is interrupted, and goes on with what is said then', async () => {
    const { id } = await createSession('For ever.');
    const run = await claim(id);
    run.streamText('So far');
    const { data = [] } = await send(id, { type: 'user.interrupt' }, message('Something else.'));
    await run.stop();
    await (await claim(id)).complete();
    const events = await list(id);
    expect(types(events)).toEqual([
      'user.message', 'session.status_running', 'user.interrupt', 'session.status_idle', 'user.message',
      'session.status_running', 'session.status_idle',
    ]); // prettier-ignore
    expect(data.map((event) => event.id)).toEqual([events[2]?.id, events[4]?.id]);
    await send(id, { type: 'user.interrupt' });
    expect(await list(id)).toEqual(events);
  });

  it('takes a message as the answer to a question', async () => {
    const { id } = await createSession('Paint it.');
    const run = await claim(id);
    await run.ask('Which colour?');
    await send(id, message('Blue.'));
    await (await worker.claim(run.claim.runId)).complete();
    const events = await list(id);
    const asked = ['agent.message', 'session.status_idle', 'session.status_running', 'user.message'];
    expect(types(events).slice(2, 6)).toEqual(asked);
  });

  it('is changed, archived, listed and deleted', async () => {
    const { id } = await createSession();
    const changed = await client().beta.sessions.update(id, { title: 'Named', metadata: { a: '1' } });
    expect(changed).toMatchObject({ title: 'Named', metadata: { a: '1' }, status: 'idle' });
    const archived = await client().beta.sessions.archive(id);
    expect(archived.status).toBe('terminated');
    expect((await reason(send(id, message('x')))).status).toBe(409);
    const ids: string[] = [];
    for await (const session of client().beta.sessions.list({ limit: 2, include_archived: true })) ids.push(session.id);
    expect(ids).toContain(id);
    expect(ids).toEqual(ids.toSorted().reverse());
    expect(await client().beta.sessions.delete(id)).toEqual({ id, type: 'session_deleted' });
    expect((await reason(client().beta.sessions.retrieve(id))).status).toBe(404);
  });

  it('is not there with half of what it should begin with', async () => {
    const { id: agent } = await createAgent();
    const before = (await client().beta.sessions.list()).data.length;
    const image = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } };
    const refused = client().beta.sessions.create({
      agent,
      environment_id: environment,
      initial_events: [message('x'), { type: 'user.message', content: [image as never] }],
    });
    expect(await reason(refused)).toMatchObject({
      error: { error: { details: { error_code: 'unsupported_capability' } } },
    });
    expect((await client().beta.sessions.list()).data).toHaveLength(before);
  });

  it('begins no run with a message that says nothing', async () => {
    const { id } = await createSession();

    expect(await reason(send(id, message('')))).toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect(await newestRun(id)).toBeUndefined();
  });

  it('may be a thread of the API', async () => {
    const run = await gateway.createRun();
    await (await worker.claim(runId.parse(run.id) satisfies RunId)).complete();
    expect(types(await list(run.thread_id))).toEqual(['user.message', 'session.status_running', 'session.status_idle']);
    await send(run.thread_id, message('Go on.'));
    await (await claim(run.thread_id)).complete();
    expect(await client().beta.sessions.retrieve(run.thread_id)).toMatchObject({ status: 'idle', type: 'session' });
  });
});

describe('what is refused', () => {
  const toolset = { type: 'agent_toolset_20260401' } as const;
  const custom = (name: string, schema: object = {}) =>
    ({ type: 'custom', name, description: 'It does.', input_schema: { type: 'object', ...schema } }) as const;

  it.each([
    ['get', '/v1/vaults'],
    ['get', '/v1/deployment_runs/drun_any'],
    ['post', '/v1/messages'],
    ['get', '/v1/sessions/any/threads'],
    ['get', '/v1/models'],
  ] as const)('is named: %s %s', async (method, path) => {
    const { body, headers } = await gateway.as()[method](`/anthropic${path}`).expect(400);
    expect(body).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', details: { error_code: 'unsupported_capability' } },
      request_id: headers['request-id'],
    });
    expect(headers['x-should-retry']).toBe('false');
  });

  it('is an error of the type that its status has', async () => {
    const types = async (promise: Promise<unknown>) => {
      const { status, type, requestID } = await reason(promise);
      expect(requestID).toEqual(expect.any(String));
      return [status, type];
    };
    const anyone = client(gateway, { apiKey: 'wrong' });
    expect(await types(anyone.beta.agents.list().then())).toEqual([401, 'authentication_error']);
    expect(await types(client().beta.agents.retrieve('agt_none').then())).toEqual([404, 'not_found_error']);
    expect(
      await types(
        client()
          .beta.agents.create({ name: 'x', model: 'a/b', colour: 1 } as never)
          .then(),
      ),
    ).toEqual([400, 'invalid_request_error']);
  });

  it.each([
    [{ mcp_servers: [{ type: 'url', name: 'a', url: 'https://a' }] }, 'mcp_servers'],
    [{ skills: [{ type: 'anthropic', skill_id: 'x' }] }, 'skills'],
    [{ multiagent: { type: 'coordinator', agents: [] } }, 'multiagent'],
    [{ model: { id: 'demo/coder', speed: 'fast' } }, 'model.speed'],
    [{ tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] }, 'tools.0'],
    [{ model: 'claude-99' }, '"model: '],
    [{ tools: [custom('a b')] }, '"tools.0.name: '],
    [{ tools: [toolset, custom('same'), custom('same')] }, '"tools.2.name: '],
    [{ tools: [toolset, custom('x', { properties: 3 })] }, '"tools.1.input_schema.properties: '],
    [{ tools: [custom('execute_command')] }, '"tools: \\"execute_command\\" is'],
  ])('is a field by its name: %j', async (more, field) => {
    const { message: text, status } = await reason(createAgent(more).then());
    expect([status, text]).toEqual([400, expect.stringContaining(field)]);
  });

  it.each([
    [{ model: 'claude-99' }, '"agent.model: '],
    [{ tools: [custom('execute_command')] }, '"agent.tools: '],
    [{ tools: [custom('a b')] }, '"agent.tools.0.name: '],
  ])('is a part that a session gives its agent, before there is a session: %j', async (more, field) => {
    const { id } = await createAgent();
    const agent = { type: 'agent_with_overrides' as const, id, ...more };
    const refused = client().beta.sessions.create({ agent, environment_id: environment });
    expect((await reason(refused.then())).message).toContain(field);
  });

  it('belongs to another account', async () => {
    const { id } = await createSession('Secret.');
    const stranger = client(gateway, { apiKey: await gateway.toKey('Stranger') });
    expect((await reason(stranger.beta.sessions.retrieve(id).then())).status).toBe(404);
    expect((await reason(stranger.beta.sessions.events.list(id).then())).status).toBe(404);
    expect((await reason(stranger.beta.sessions.events.stream(id).then())).status).toBe(404);
    expect((await reason(stranger.beta.sessions.events.send(id, { events: [message('x')] }).then())).status).toBe(404);
    await (await claim(id)).complete();
  });

  it('is not done twice when a client repeats what was answered', async () => {
    const post = (count: string) =>
      gateway
        .as()
        .post('/anthropic/v1/agents')
        .set('x-stainless-retry-count', count)
        .send({ name: 'Repeated', model: 'demo/coder' })
        .expect(200);
    const [first, again, anew] = [await post('0'), await post('1'), await post('0')];
    expect(again.body).toEqual(first.body);
    expect(again.headers['request-id']).toEqual(expect.any(String));
    expect((anew.body as { id: string }).id).not.toBe((first.body as { id: string }).id);
  });
});
