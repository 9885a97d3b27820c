import { nextEvent } from '../testing/next-event';
import { RunningGateway } from '../testing/running-gateway';
import { beginPost } from '../testing/unsent-body';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await RunningGateway.start({
    SOCKETS_PER_KEY: 2,
    STREAMS_PER_KEY: 2,
    WAITS_PER_KEY: 2,
    BODY_LIMIT_BYTES: 50_000,
    BODY_BYTES_PER_KEY: 100_000,
  });
});
afterAll(() => gateway.close());

const withKey = (key: string, signal?: AbortSignal) => ({
  headers: { authorization: `Bearer ${key}` },
  ...(signal && { signal }),
});
const tooMany = { status: 429, code: 'too_many_connections' };

/** Polls until a condition holds that no event announces. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('attack: public API', () => {
  it('more sockets of one key than it may have', async () => {
    const key = await gateway.keyOf('sockets');
    const [first, second] = [gateway.socket(key), gateway.socket(key)];
    await Promise.all([first, second].map((socket) => nextEvent(socket, 'connect')));

    const [refused] = await nextEvent(gateway.socket(key), 'connect_error');
    expect(refused).toMatchObject({ message: 'too_many_connections', data: { ...tooMany, retry_after_s: 1 } });
    await nextEvent(gateway.socket(), 'connect');

    first.disconnect();
    const another = gateway.socket(key);
    another.on('connect_error', () => another.connect());
    await nextEvent(another, 'connect');
  });

  it('more event streams of one key than it may have', async () => {
    const key = await gateway.keyOf('streams', ['write']);
    const { id } = await gateway.createRun({ input: 'Go.' }, key);
    const over = new AbortController();
    const stream = (signal?: AbortSignal) => fetch(`${gateway.url}/v1/runs/${id}/stream`, withKey(key, signal));
    await Promise.all([stream(over.signal), stream(over.signal)]);

    const refused = await stream();
    expect(await refused.json()).toMatchObject(tooMany);
    expect(refused.headers.get('retry-after')).toBe('1');

    over.abort();
    let status = 429;
    while (status === 429) ({ status } = await stream(AbortSignal.timeout(2_000)));
    expect(status).toBe(200);
  });

  it('more waits of one key than it may have', async () => {
    const key = await gateway.keyOf('waits', ['write']);
    const { id } = await gateway.createRun({ input: 'Go.' }, key);
    const over = new AbortController();
    const wait = (signal?: AbortSignal) =>
      fetch(`${gateway.url}/v1/runs/${id}/wait?timeout_s=20`, withKey(key, signal));
    const waiting = [wait(over.signal), wait(over.signal)].map((answer) => answer.catch(() => undefined));
    await until(() => gateway.parts.subscriptions.subscriberCount >= 2);

    const refused = await wait();
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject(tooMany);
    over.abort();
    await Promise.all(waiting);
  });

  it('more bytes in flight of one key than it may have', async () => {
    const key = await gateway.keyOf('bytes', ['write']);
    const slow = [1, 2].map(() => beginPost(gateway.url, { path: '/v1/runs', key, bytes: 50_000, sent: '{"input":' }));
    let refused = await gateway.as(key).post('/v1/runs').send({ input: 'Go.' });
    while (refused.status === 202) refused = await gateway.as(key).post('/v1/runs').send({ input: 'Go.' });

    expect(refused.body).toMatchObject({ status: 429, code: 'too_many_bytes_in_flight' });
    expect(refused.headers['retry-after']).toBe('1');
    await gateway.as(key).get('/v1/runs').expect(200);
    await gateway.createRun();

    for (const post of slow) post.destroy();
    while (refused.status === 429) refused = await gateway.as(key).post('/v1/runs').send({ input: 'Go.' });
    expect(refused.status).toBe(202);
  });
});
