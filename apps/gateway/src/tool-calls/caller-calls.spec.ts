import type { CallId, Problem, Run, ToolCall } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const second = gateway.anotherForSuite();
const worker = TestWorker.forSuite(gateway);

const weather = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  timeout_s: 60,
};
const body = { input: 'Go.', caller_tools: [weather] };

/** A run that waits for results of its caller. */
async function parked(count = 1, about: { expiresAt?: Date } = {}): Promise<{ run: Run; calls: CallId[] }> {
  const run = await gateway.createRun(body);
  const names = Array.from({ length: count }, () => weather.name);
  const calls = await (await worker.claim(run.id)).askCaller(names, about);
  return { run: await gateway.read(run.id), calls };
}

const toFields = (problem: unknown): string[] => ((problem as Problem).errors ?? []).map(({ field }) => field);
const post = (path: string, given: object, through = gateway) => through.as().post(`/v1${path}`).send(given);
const answer = (id: CallId | undefined, given: object = { output: '18 °C' }, through = gateway) =>
  post(`/tool-calls/${id}/result`, given, through);

describe('tools of the caller, in a request', () => {
  it('are part of the settings of the run', async () => {
    const run = await gateway.createRun(body);

    expect(run.settings.caller_tools).toEqual([weather]);
  });

  it('may be those of a stored agent', async () => {
    const definition = { name: 'weather agent', caller_tools: [weather] };
    const { body: agent } = await gateway.as().post('/v1/agents').send({ definition }).expect(201);
    expect(agent.definition.caller_tools).toEqual([weather]);

    const run = await gateway.createRun({ input: 'Go.', agent_id: agent.id });
    expect(run.settings.caller_tools).toEqual([weather]);
    const without = await gateway.createRun({ input: 'Go.', agent_id: agent.id, caller_tools: [] });
    expect(without.settings).not.toHaveProperty('caller_tools');
  });

  it.each([
    ['the name of a built-in tool', { ...weather, name: 'read_file' }, 'caller_tools.0.name'],
    ['a name of letters that no provider takes', { ...weather, name: 'Wetter für alle' }, 'caller_tools.0.name'],
    ['a schema of no object', { ...weather, parameters: { type: 'array' } }, 'caller_tools.0.parameters.type'],
    ['an unknown field', { ...weather, url: 'http://localhost' }, 'caller_tools.0.url'],
    ['no time', { ...weather, timeout_s: 0 }, 'caller_tools.0.timeout_s'],
  ])('are refused with %s, by the name of the field', async (_, tool, field) => {
    const { body: problem } = await post('/runs', { ...body, caller_tools: [tool] }).expect(422);

    expect(toFields(problem)).toEqual([field]);
  });
});

describe('results of the caller, over REST', () => {
  it('are taken once by two gateways, and the run goes on', async () => {
    const { run, calls } = await parked();
    expect(run).toMatchObject({ status: 'waiting_tool', waiting: { tool_calls: [{ tool_call_id: calls[0] }] } });

    const answers = await Promise.all(
      [gateway, second, gateway, second].map((through, index) => answer(calls[0], { output: `${index}` }, through)),
    );

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    const taken = answers.find(({ status }) => status === 200)?.body as ToolCall;
    expect((await answer(calls[0], { output: taken.result?.output }).expect(200)).body).toEqual(taken);
    expect(await gateway.read(run.id)).toMatchObject({ status: 'queued', waiting: null });
  });

  it('are an error, or an image beside an output', async () => {
    const { calls } = await parked(2);
    const { type: _, ...image } = pngSource();

    const failed = await answer(calls[0], { error: 'No such city.' }).expect(200);
    const drawn = await answer(calls[1], { output: 'A map.', image }).expect(200);

    expect(failed.body).toMatchObject({ status: 'failed', result: { success: false, error: 'No such city.' } });
    expect(drawn.body).toMatchObject({ status: 'completed', result: { output: 'A map.', image: { width: 2 } } });
  });

  it.each<[string, object, string]>([
    ['nothing', {}, 'output'],
    ['an output and an error', { output: 'a', error: 'b' }, 'output'],
    ['an unknown field', { output: 'a', exit_code: 1 }, 'exit_code'],
    ['no text', { output: 7 }, 'output'],
    ['NUL characters', { output: 'a\0b' }, 'output'],
    ['bytes that are no image', { image: { media_type: 'image/png', data: 'aGFsbG8=' } }, 'image.data'],
    ['an empty error', { error: '' }, 'error'],
  ])('are refused with %s', async (_, given, field) => {
    const { calls } = await parked();

    const { body: problem } = await answer(calls[0], given).expect(422);

    expect(toFields(problem)).toContain(field);
  });

  it('keep no half of a surrogate pair', async () => {
    const { calls } = await parked();

    const { body: call } = await answer(calls[0], { output: 'half \ud83d' }).expect(200);

    expect(call.result.output).toBe('half \ufffd');
  });

  it('come for several calls in one request, all or none', async () => {
    const { run, calls } = await parked(2);
    const results = calls.map((tool_call_id) => ({ tool_call_id, output: 'sun' }));
    const path = `/runs/${run.id}/tool-results`;
    const unknown = { tool_call_id: 'call_0000', output: 'x' };

    await post(path, { results: [...results, unknown] }).expect(404);
    await post(path, { results: [...results, ...results] }).expect(422);
    expect((await gateway.read(run.id)).status).toBe('waiting_tool');
    const { body: after } = await post(path, { results }).expect(200);

    expect(after).toMatchObject({ id: run.id, status: 'queued', waiting: null });
    await post(path, { results }).expect(200);
  });

  it('are gone after the time of the call, and after a stop', async () => {
    const late = await parked(1, { expiresAt: new Date(Date.now() - 1) });
    expect((await answer(late.calls[0]).expect(410)).body.code).toBe('tool_call_over');

    const stopped = await parked();
    await post(`/runs/${stopped.run.id}/stop`, {}).expect(202);
    expect((await answer(stopped.calls[0]).expect(410)).body.code).toBe('tool_call_over');
  });

  it('are gone when an edit has replaced the run', async () => {
    const { run, calls } = await parked();
    const { body: messages } = await gateway.as().get(`/v1/threads/${run.thread_id}/messages`).expect(200);
    const edit = { input: 'Else.', thread_id: run.thread_id, edit_message_id: messages.data[0].id };
    await post('/runs', edit).expect(202);

    await answer(calls[0]).expect(410);
  });

  it('are found by no other account, and need a key that may write', async () => {
    const { run, calls } = await parked();
    const stranger = gateway.as(await gateway.toKey('stranger'));
    const { body: key } = await gateway
      .as()
      .post('/v1/api-keys')
      .send({ name: 'reader', scopes: ['read'] })
      .expect(201);
    const reader = gateway.as(key.key);
    const path = `/v1/tool-calls/${calls[0]}/result`;

    await stranger.post(path).send({ output: 'x' }).expect(404);
    expect((await stranger.get('/v1/tool-calls').expect(200)).body.data).toEqual([]);
    await reader.post(path).send({ output: 'x' }).expect(403);
    const { body: list } = await reader.get(`/v1/tool-calls?run_id=${run.id}`).expect(200);
    expect(list.data).toMatchObject([{ id: calls[0], run_id: run.id, name: 'get_weather', arguments: {} }]);
  });

  it('are no answers, and the run says what to do', async () => {
    const { run, calls } = await parked();

    const { body: problem } = await post(`/runs/${run.id}/input`, { content: 'Sun.' }).expect(409);

    expect(problem.detail).toContain(`/v1/tool-calls/${calls[0]}/result`);
    const { body: why } = await gateway.as().get(`/v1/runs/${run.id}/why`).expect(200);
    expect(why).toMatchObject({ cause: 'caller_tools', until: expect.any(String), tool_calls: [{ id: calls[0] }] });
    const { body: waited } = await gateway.as().get(`/v1/runs/${run.id}/wait`).expect(200);
    expect(waited.status).toBe('waiting_tool');
  });
});

describe('results of the caller, over Socket.IO', () => {
  it('are taken like over REST, and the call was sent to the socket', async () => {
    const run = await gateway.createRun(body);
    const socket = gateway.socket();
    const waiting = new Promise<{ data: { tool_calls: { tool_call_id: CallId }[] } }>((resolve) => {
      socket.on('event', (event: { type: string; data: { tool_calls: { tool_call_id: CallId }[] } }) => {
        if (event.type === 'run.waiting') resolve(event);
      });
    });
    await socket.emitWithAck('run.subscribe', { run_id: run.id });
    const [call] = await (await worker.claim(run.id)).askCaller(['get_weather']);
    const { data } = await waiting;
    expect(data.tool_calls).toMatchObject([{ tool_call_id: call, name: 'get_weather' }]);

    const send = (message: object): Promise<unknown> => socket.emitWithAck('tool_call.result', message);
    const given = { tool_call_id: call, output: 'sun', idempotency_key: `key ${call}` };
    expect(await send(given)).toMatchObject({ ok: true, data: { id: call, status: 'completed' } });
    expect(await send(given)).toMatchObject({ ok: true, replayed: true });
    expect(await send({ tool_call_id: call, output: 'rain' })).toMatchObject({
      ok: false,
      error: { code: 'tool_call_answered', status: 409 },
    });
    expect(await send({ tool_call_id: call })).toMatchObject({ ok: false, error: { code: 'invalid_request' } });
  });
});
