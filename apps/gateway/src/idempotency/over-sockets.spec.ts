import type { Run, RunEvent } from '@rondo/contract';
import type { Socket } from 'socket.io-client';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

interface Answer {
  readonly ok: boolean;
  readonly data?: Run;
  readonly replayed?: boolean;
  readonly error?: { readonly code: string; readonly retry_after_s?: number; readonly errors?: { field: string }[] };
}

const ask = (socket: Socket, name: string, body: object): Promise<Answer> =>
  socket.timeout(10_000).emitWithAck(name, body) as Promise<Answer>;
const create = (key: string, more: object = {}, socket = gateway.socket()) =>
  ask(socket, 'run.create', { input: 'Go.', idempotency_key: key, ...more });

describe('idempotency_key of a message', () => {
  it('creates one run for a repeated run.create, also on another socket, and marks the replay', async () => {
    const first = await create('created');
    const again = await create('created');

    expect(first).toEqual({ ok: true, data: expect.objectContaining({ status: 'queued' }) });
    expect(again).toEqual({ ok: true, replayed: true, data: first.data });
  });

  it('is the Idempotency-Key of the same request over REST', async () => {
    const first = await create('both');
    const send = (body: object) => gateway.as().post('/v1/runs').set('Idempotency-Key', 'both').send(body);
    const again = await send({ input: 'Go.' }).expect(202);

    expect(again.body).toEqual(first.data);
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      location: `/v1/runs/${first.data?.id}`,
    });
    expect((await send({ input: 'Stop.' }).expect(422)).body.code).toBe('idempotency_key_reused');
  });

  it('creates one run for twenty messages at once; the others are in flight or replayed', async () => {
    const socket = gateway.socket();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('storm', {}, socket)));

    const made = answers.flatMap(({ data }) => (data ? [data.id] : []));
    expect(new Set(made).size).toBe(1);
    expect(answers.filter(({ ok, replayed }) => ok && !replayed)).toHaveLength(1);
    for (const { error } of answers.filter(({ ok }) => !ok)) {
      expect(error).toMatchObject({ code: 'idempotency_in_flight', retry_after_s: 1 });
    }
  });

  it('subscribes to the earlier run when a replayed message asks for it', async () => {
    const first = await create('watched');
    const socket = gateway.socket();
    const seen = new Promise<RunEvent>((resolve) => socket.on('event', resolve));
    const again = await create('watched', { subscribe: true }, socket);

    expect(again).toMatchObject({ ok: true, replayed: true });
    expect(await seen).toMatchObject({ seq: 1, run_id: first.data?.id });
  });

  it('answers a run once', async () => {
    const run = await gateway.createRun();
    await (await worker.claim(run.id)).ask('Which colour?');
    const answer = { run_id: run.id, content: 'Blue.', idempotency_key: 'answered' };
    const first = await ask(gateway.socket(), 'run.input', answer);
    const again = await ask(gateway.socket(), 'run.input', answer);

    expect(first).toMatchObject({ ok: true, data: { id: run.id } });
    expect(again).toEqual({ ...first, replayed: true });
  });

  it('does not store a refusal', async () => {
    const { thread_id } = await gateway.createRun();

    expect((await create('busy', { thread_id })).error?.code).toBe('thread_busy');
    expect((await create('busy', { thread_id })).error?.code).toBe('thread_busy');
    expect((await create('busy')).ok).toBe(true);
  });

  it.each(['', 'x'.repeat(300), 'nul\0', 'grün'])('must be printable: %j', async (key) => {
    expect((await create(key)).error?.errors).toContainEqual({
      field: 'idempotency_key',
      message: expect.any(String),
    });
  });
});

describe('attack: tenants', () => {
  it("another account's idempotency key over a socket", async () => {
    const first = await create('shared');
    const stranger = await create('shared', {}, gateway.socket(await gateway.toKey('stranger')));

    expect(stranger.ok).toBe(true);
    expect(stranger.replayed).toBeUndefined();
    expect(stranger.data?.id).not.toBe(first.data?.id);
  });
});
