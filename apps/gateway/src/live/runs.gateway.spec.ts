import { type Run, type RunEvent, noUsage } from '@rondo/contract';
import { type Socket, io } from 'socket.io-client';
import { nextEvent } from '../testing/next-event';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { StrictClient } from './testing/scripted-run';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

interface Answer {
  readonly ok: boolean;
  readonly data?: Record<string, unknown>;
  readonly error?: { readonly status: number; readonly code: string; readonly errors?: { field: string }[] };
}

const send = (socket: Socket, name: string, body?: unknown): Promise<Answer> =>
  socket.timeout(5_000).emitWithAck(name, body) as Promise<Answer>;

/** Collects events until the run's last. */
function collectEvents(socket: Socket, client = new StrictClient()) {
  const events: RunEvent[] = [];
  const ended = new Promise<void>((resolve) => {
    socket.on('event', (event: RunEvent) => {
      events.push(event);
      client.receive(event);
      if (event.type === 'run.completed') resolve();
    });
  });
  return { client, events, ended };
}

describe('the socket /runs', () => {
  it('replays the log, and continues live', async () => {
    const run = await gateway.createRun();
    const claimed = await worker.claim(run.id);
    const socket = gateway.socket();
    const { client, events, ended } = collectEvents(socket);
    expect(await send(socket, 'run.subscribe', { run_id: run.id })).toEqual({
      ok: true,
      data: { status: 'running', head_seq: 3 },
    });

    while (client.seq < 3) await nextEvent(socket, 'event');
    claimed.streamText('Hello, ');
    claimed.streamText('world.');
    while (client.openText !== 'Hello, world.') await nextEvent(socket, 'event');
    await claimed.finishMessage();
    await claimed.complete();
    await ended;
    expect(client.violations).toEqual([]);
    const { body } = await gateway.as().get(`/v1/runs/${run.id}/events`).expect(200);
    const facts = events.filter(({ seq }) => seq !== null).map((event) => JSON.stringify(event));
    expect(facts).toEqual((body.data as RunEvent[]).map((event) => JSON.stringify(event)));
  });

  it.each([
    [{ run_id: 'run_1', after_seq: 2 ** 31 }, 'after_seq'],
    [{ run_id: Buffer.alloc(100_000) }, 'run_id'],
    [Buffer.from('{}'), ''],
  ])('refuses a malformed message, naming the field', async (body, field) => {
    const { error } = await send(gateway.socket(), 'run.subscribe', body);

    expect(error).toMatchObject({ status: 422, code: 'invalid_request', errors: [{ field }] });
  });

  it('refuses connections to any other namespace', async () => {
    const socket = io(gateway.url, { transports: ['websocket'], forceNew: true });
    const [error] = await nextEvent(socket, 'connect_error');
    socket.close();

    expect(error).toMatchObject({ message: 'not_found' });
  });

  it('resumes after after_seq', async () => {
    const run = await gateway.createRun();
    await (await worker.claim(run.id)).complete();
    const socket = gateway.socket();
    const { events, ended } = collectEvents(socket, new StrictClient(2));

    await send(socket, 'run.subscribe', { run_id: run.id, after_seq: 2 });
    await ended;
    expect(events.map(({ seq }) => seq)).toEqual([3, 4]);
  });

  it('creates, answers and stops runs', async () => {
    const socket = gateway.socket();
    const created = await send(socket, 'run.create', { input: 'Go.' });
    const run = created.data as unknown as Run;
    expect(run.status).toBe('queued');

    expect((await send(socket, 'run.input', { run_id: run.id, content: 'Blue.' })).error?.code).toBe('run_not_waiting');
    await (await worker.claim(run.id)).ask('Which colour?');
    expect((await send(socket, 'run.input', { run_id: run.id, content: 'Blue.' })).data).toMatchObject({ id: run.id });
    const stopped = await send(socket, 'run.stop', { run_id: run.id, reason: 'enough' });
    expect(stopped.data).toMatchObject({ id: run.id, status: 'stopped' });
  });

  it('delivers a run that it creates from the first event, without reading the log (I2)', async () => {
    const reads = jest.spyOn(gateway.parts.runs, 'open');
    const socket = gateway.socket();
    const { client, events, ended } = collectEvents(socket);
    const { data } = await send(socket, 'run.create', { input: 'Go.', subscribe: true });
    const run = data as unknown as Run;
    const claimed = await worker.claim(run.id);
    claimed.streamText('Gone.');
    await claimed.finishMessage();
    await claimed.complete();
    await ended;

    expect(client.violations).toEqual([]);
    expect(client.messages).toEqual(['Go.', 'Gone.']);
    expect(reads).not.toHaveBeenCalled();
    reads.mockRestore();
    const { body } = await gateway.as().get(`/v1/runs/${run.id}/events`).expect(200);
    expect(events.filter(({ seq }) => seq !== null)).toEqual(body.data);
  });

  it('delivers a queued run that it creates when its turn comes', async () => {
    const ahead = await gateway.createRun();
    const socket = gateway.socket();
    const { client, events, ended } = collectEvents(socket);
    const request = { thread_id: ahead.thread_id, input: 'Then go.', on_active_run: 'queue', subscribe: true };
    const { data } = await send(socket, 'run.create', request);
    await (await worker.claim(ahead.id)).complete();
    await (await worker.claim((data as unknown as Run).id)).complete();
    await ended;

    expect(client.violations).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(['run.created', 'message.created', 'run.started', 'run.completed']);
  });

  it.each([false, true])(
    'delivers the run at work that it tells something, each event once (it is subscribed before: %s)',
    async (isSubscribed) => {
      const active = await gateway.createRun();
      const claimed = await worker.claim(active.id);
      const socket = gateway.socket();
      const { client, events, ended } = collectEvents(socket);
      if (isSubscribed) {
        await send(socket, 'run.subscribe', { run_id: active.id });
        while (client.seq < 3) await nextEvent(socket, 'event');
      }
      claimed.streamText('Hello, ');
      const request = { thread_id: active.thread_id, input: 'In blue.', on_active_run: 'steer', subscribe: true };
      const { data } = await send(socket, 'run.create', request);
      const { steered, ...told } = data as unknown as Run;
      expect(told).toMatchObject({ id: active.id, status: 'running' });
      while (client.openText !== 'Hello, ') await nextEvent(socket, 'event');

      claimed.streamText('world.');
      await claimed.finishMessage();
      await claimed.read('In blue.', steered?.queued_run_id);
      const limit = { finish_reason: 'max_iterations' as const, usage: noUsage }; // a reply ends it only after another claim
      await claimed.append([{ type: 'run.completed', iteration: 2, data: limit }]);
      await ended;

      expect(client.violations).toEqual([]);
      expect(client.messages).toEqual(['Go.', 'Hello, world.', 'In blue.']);
      const { body } = await gateway.as().get(`/v1/runs/${active.id}/events`).expect(200);
      expect(events.filter(({ seq }) => seq !== null)).toEqual(body.data);
    },
  );

  it('leaves no subscription where it could not create the run', async () => {
    const { thread_id } = await gateway.createRun();
    const before = gateway.parts.subscriptions.runCount;
    const { error } = await send(gateway.socket(), 'run.create', { thread_id, input: 'Go.', subscribe: true });

    expect(error?.code).toBe('thread_busy');
    expect(gateway.parts.subscriptions.runCount).toBe(before);
  });

  it.each(['run.pause', 'toString', 'x'.repeat(1_000)])(
    'acknowledges a message that there is not: %.20s',
    async (name) => {
      const answer = await send(gateway.socket(), name, {});

      expect(answer).toMatchObject({ ok: false, error: { status: 404, code: 'not_found' } });
    },
  );

  it('delivers nothing of a run after run.unsubscribe', async () => {
    const run = await gateway.createRun();
    const socket = gateway.socket();
    const { client, events } = collectEvents(socket);
    await send(socket, 'run.subscribe', { run_id: run.id });
    while (client.seq < 2) await nextEvent(socket, 'event');

    expect(await send(socket, 'run.unsubscribe', { run_id: run.id })).toEqual({ ok: true, data: { run_id: run.id } });
    await (await worker.claim(run.id)).complete();
    await gateway.as().get(`/v1/runs/${run.id}/wait`).expect(200);
    await send(socket, 'run.unsubscribe', { run_id: run.id });
    expect(events).toHaveLength(2);
  });

  it('does not stop the run when the client disconnects (I8)', async () => {
    const run = await gateway.createRun();
    const claimed = await worker.claim(run.id);
    const socket = gateway.socket();
    await send(socket, 'run.subscribe', { run_id: run.id });
    socket.disconnect();

    while (gateway.parts.subscriptions.runCount > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await gateway.read(run.id)).status).toBe('running');
    await claimed.complete();
  });

  it('refuses a wrong key, and a key in the URL', async () => {
    for (const [token, query] of [
      ['rondo_wrong', {}],
      ['', { token: adminKey }],
    ] as const) {
      const [error] = await nextEvent(gateway.socket(token, query), 'connect_error');
      expect(error).toMatchObject({ data: { status: 401, code: 'unauthorized' } });
    }
  });

  it('reveals nothing of an internal error, in the handshake and after it (I12)', async () => {
    const { accounts, runs } = gateway.parts;
    const away = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
    jest.spyOn(accounts, 'verify').mockRejectedValueOnce(away);
    const [error] = await nextEvent(gateway.socket('rondo_some_key'), 'connect_error');
    expect(error).toMatchObject({
      message: 'service_unavailable',
      data: { status: 503, code: 'service_unavailable', detail: 'Try again in a moment.' },
    });

    const run = await gateway.createRun();
    const socket = gateway.socket();
    jest.spyOn(runs, 'open').mockRejectedValueOnce(away);
    const answer = await send(socket, 'run.subscribe', { run_id: run.id });
    expect(answer).toMatchObject({ ok: false, error: { status: 503, code: 'service_unavailable' } });
  });

  it.each([
    ['run.subscribe', undefined, 422],
    ['run.subscribe', 'text', 422],
    ['run.subscribe', { run_id: 'run_1', after: 1 }, 422],
    ['run.subscribe', { run_id: 'run_1', after_seq: -1 }, 422],
    ['run.subscribe', { run_id: 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV' }, 404],
    ['run.create', { input: 7 }, 422],
    ['run.create', { input: 'Go.', model: 'openai/gpt-5' }, 422],
    ['run.create', { input: 'Go.', tools: ['fly'] }, 422],
    ['run.stop', { run_id: 'run_1' }, 404],
    ['run.subscribe', { run_id: 'x' }, 404],
    ['approval.decide', { approval_id: 'x', decision: 'approve' }, 404],
    ['tool_call.result', { tool_call_id: 'x', output: '' }, 404],
    ['run.input', { run_id: 'run_1' }, 422],
  ])('answers %s %j with a problem of status %i', async (name, body, status) => {
    const { ok, error } = await send(gateway.socket(), name, body);
    expect([ok, error?.status]).toEqual([false, status]);
  });

  it("answers 404 for another account's run, on every message", async () => {
    const run = await gateway.createRun();
    const socket = gateway.socket(await gateway.toKey('stranger'));
    for (const [name, more] of [
      ['run.subscribe', {}],
      ['run.stop', {}],
      ['run.input', { content: 'Blue.' }],
    ] as const) {
      expect((await send(socket, name, { run_id: run.id, ...more })).error?.code).toBe('run_not_found');
    }
    expect((await gateway.read(run.id)).status).toBe('queued');
  });

  it('applies the scopes of the key as REST does', async () => {
    const socket = gateway.socket(await gateway.toKey('reader', ['read']));
    expect((await send(socket, 'run.create', { input: 'Go.' })).error?.code).toBe('forbidden');
  });

  it('bounds the subscriptions of a socket', async () => {
    const socket = gateway.socket();
    const runs = await Promise.all(Array.from({ length: 101 }, () => gateway.createRun()));
    const answers = await Promise.all(runs.map(({ id }) => send(socket, 'run.subscribe', { run_id: id })));
    expect(answers.filter(({ ok }) => !ok).map(({ error }) => error?.code)).toEqual(['too_many_subscriptions']);

    const thread = (await gateway.as().post('/v1/threads').send({}).expect(201)).body as { id: string };
    for (const on_active_run of ['reject', 'steer']) {
      const request = { thread_id: thread.id, input: 'Go.', on_active_run, subscribe: true };
      expect((await send(socket, 'run.create', request)).error?.code).toBe('too_many_subscriptions');
    }
    const { body } = await gateway.as().get(`/v1/runs?thread_id=${thread.id}`).expect(200);
    expect(body.data).toEqual([]);
    socket.disconnect();
  });
});
