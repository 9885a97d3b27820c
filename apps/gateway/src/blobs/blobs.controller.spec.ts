import type { Message, RunEvent } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import type { Socket } from 'socket.io-client';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite({ BODY_LIMIT_BYTES: 10 * 1024 * 1024 });
const worker = TestWorker.forSuite(gateway);

const api = () => gateway.as();
const image = (source: object) => [{ type: 'image', source }];
const kept = {
  type: 'blob',
  sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  media_type: 'image/png',
  width: 2,
  height: 3,
};

async function newThread(key?: string): Promise<string> {
  return (await gateway.as(key).post('/v1/threads').expect(201)).body.id as string;
}

/** Sends it on a new thread; returns the source that the stored message has. */
async function send(source: object, key?: string): Promise<{ sha256: string }> {
  const path = `/v1/threads/${await newThread(key)}/messages`;
  const { body } = await gateway
    .as(key)
    .post(path)
    .send({ content: image(source) })
    .expect(201);
  return (body as { content: [{ source: { sha256: string } }] }).content[0].source;
}

const ask = (socket: Socket, name: string, body: object) =>
  socket.timeout(5_000).emitWithAck(name, body) as Promise<{ ok: boolean; data: { id: string }; error?: object }>;

const readMessages = async (threadId: string): Promise<Message[]> =>
  (await api().get(`/v1/threads/${threadId}/messages`).expect(200)).body.data as Message[];

const readEvents = async (runId: string): Promise<RunEvent[]> =>
  (await api().get(`/v1/runs/${runId}/events`).expect(200)).body.data as RunEvent[];

describe('an image that a client sends', () => {
  it('is served byte for byte, with immutable caching', async () => {
    const source = pngSource({}, [1, 2, 3]);
    const { sha256 } = await send(source);

    const { body, headers } = await api().get(`/v1/blobs/${sha256}`).expect(200);

    expect((body as Buffer).toString('base64')).toBe(source.data);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String((body as Buffer).length),
      'content-disposition': 'inline',
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
  });

  it('is served to another account only if that account has sent it too', async () => {
    const stranger = await gateway.toKey('stranger');
    const source = pngSource({}, [4]);
    const { sha256 } = await send(source);

    const { body } = await gateway.as(stranger).get(`/v1/blobs/${sha256}`).expect(404);
    expect(body.code).toBe('blob_not_found');
    await send(source, stranger);
    await gateway.as(stranger).get(`/v1/blobs/${sha256}`).expect(200);
    await gateway.anonymous.get(`/v1/blobs/${sha256}`).expect(401);
  });

  it('is a blob in the message and in its fact, over REST and sockets', async () => {
    const content = image(pngSource({}, [5]));
    const socket = gateway.socket();
    const run = await gateway.createRun({ input: content });
    const { thread_id: threadId } = run;
    await gateway.createRun({ thread_id: threadId, input: content, on_active_run: 'queue' });
    await api().post(`/v1/threads/${threadId}/messages`).send({ content }).expect(201);
    const claimed = await worker.claim(run.id);
    await claimed.ask('Which?');
    expect(await ask(socket, 'run.input', { run_id: run.id, content })).toMatchObject({ ok: true });
    const onAnother = await ask(socket, 'run.create', { input: content });
    await (await worker.claim(run.id)).complete();

    const stored = await readMessages(threadId);
    expect(stored.map((message) => message.content)).toEqual(Array(4).fill(image(kept)));
    const facts = [...(await readEvents(run.id)), ...(await readEvents(onAnother.data.id))];
    const created = facts.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.content] : []));
    expect(created).toEqual(Array(3).fill(image(kept)));
    expect(JSON.stringify([stored, facts])).not.toContain(pngSource({}, [5]).data);
  });

  it('can be sent again as the blob that it was stored as', async () => {
    const source = await send(pngSource({}, [6]));

    expect(await send(source)).toEqual(source);
    const run = await gateway.createRun({ input: image(source) });
    expect((await readMessages(run.thread_id))[0]?.content).toEqual(image(source));
  });

  it('stays a URL if it was sent as one', async () => {
    const source = { type: 'url', url: 'https://example.com/bird.png' };
    expect(await send(source)).toEqual(source);
  });

  it('is not part of the stored response that a repeated request gets', async () => {
    const path = `/v1/threads/${await newThread()}/messages`;
    const send = () =>
      api()
        .post(path)
        .set('Idempotency-Key', path)
        .send({ content: image(pngSource({}, [7])) });

    const first = await send().expect(201);
    const again = await send().expect(201);

    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(again.body.content).toEqual(image(kept));
  });
});

describe('an image that is refused', () => {
  const huge = Buffer.concat([Buffer.from(pngSource().data, 'base64'), Buffer.alloc(5 * 1024 * 1024)]);

  it.each([
    ['is too large', { ...pngSource(), data: huge.toString('base64') }, 'data', 'must be 5 MiB at most'],
    ['is not an image', { ...pngSource(), data: 'aGVsbG8=' }, 'data', 'must be a PNG, JPEG, GIF or WebP image'],
    [
      'has another media type than declared',
      { ...pngSource(), media_type: 'image/webp' },
      'media_type',
      'the bytes are image/png',
    ],
    [
      'has a media type that no model accepts',
      { ...pngSource(), media_type: 'image/svg+xml' },
      'media_type',
      undefined,
    ],
    [
      'is a blob that the account does not have',
      { type: 'blob', sha256: 'e'.repeat(64), media_type: 'image/png', width: 1, height: 1 },
      'sha256',
      'there is no such blob',
    ],
  ])(
    '%s: the error names the field, over REST and sockets, and nothing is written',
    async (_, source, field, message) => {
      const content = [{ type: 'text', text: 'Look:' }, ...image(source)];
      const thread = await newThread();
      const error = (name: string) => ({
        code: 'invalid_request',
        errors: [{ field: `${name}.1.source.${field}`, message: message ?? expect.any(String) }],
      });

      const asInput = await api().post('/v1/runs').send({ thread_id: thread, input: content }).expect(422);
      expect(asInput.body).toMatchObject(error('input'));
      const asMessage = await api().post(`/v1/threads/${thread}/messages`).send({ content }).expect(422);
      expect(asMessage.body).toMatchObject(error('content'));
      const bySocket = await ask(gateway.socket(), 'run.create', { thread_id: thread, input: content });
      expect(bySocket).toMatchObject({ ok: false, error: error('input') });

      expect(await readMessages(thread)).toEqual([]);
    },
  );

  it.each(['nonsense', 'e'.repeat(64), 'E'.repeat(64)])('is not found under %s', async (hash) => {
    expect((await api().get(`/v1/blobs/${hash}`).expect(404)).body.code).toBe('blob_not_found');
  });
});
