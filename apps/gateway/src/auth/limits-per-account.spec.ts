import type { Socket as TcpSocket } from 'node:net';
import type { Run } from '@rondo/contract';
import type { Socket } from 'socket.io-client';
import { nextEvent } from '../testing/next-event';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { beginPost } from '../testing/unsent-body';

const gateway = RunningGateway.forSuite({
  SOCKETS_PER_ACCOUNT: 2,
  STREAMS_PER_ACCOUNT: 2,
  WAITS_PER_ACCOUNT: 2,
  BODY_LIMIT_BYTES: 400_000,
  MEMORY_BUDGET_BYTES: 1_500_000,
});

/** So many keys of one new account. */
async function createKeys(name: string, count = 3): Promise<[string, ...string[]]> {
  const first = await gateway.toKey(name);
  const others = Array.from({ length: count - 1 }, async (_, index) => {
    const key = { name: `${name} ${index}`, scopes: ['write'] };
    return (await gateway.as(first).post('/v1/api-keys').send(key).expect(201)).body.key as string;
  });
  return [first, ...(await Promise.all(others))];
}

const withKey = (key: string, signal?: AbortSignal) => ({
  headers: { authorization: `Bearer ${key}` },
  ...(signal && { signal }),
});
const tooMany = { status: 429, code: 'too_many_connections' };

describe('attack: public API', () => {
  it('more sockets of the keys of one account than it may have', async () => {
    const [key, secondKey = '', thirdKey = ''] = await createKeys('sockets');
    const [first, second] = [gateway.socket(key), gateway.socket(secondKey)];
    await Promise.all([first, second].map((socket) => nextEvent(socket, 'connect')));

    const [refused] = await nextEvent(gateway.socket(thirdKey), 'connect_error');
    expect(refused).toMatchObject({ message: 'too_many_connections', data: { ...tooMany, retry_after_s: 1 } });
    await nextEvent(gateway.socket(), 'connect');

    first.disconnect();
    const another = gateway.socket(key);
    another.on('connect_error', () => another.connect());
    await nextEvent(another, 'connect');
  });

  it('more event streams of the keys of one account than it may have', async () => {
    const [key, secondKey = '', thirdKey = ''] = await createKeys('streams');
    const { id } = await gateway.createRun({ input: 'Go.' }, key);
    const over = new AbortController();
    const stream = (ofKey: string, signal?: AbortSignal) =>
      fetch(`${gateway.url}/v1/runs/${id}/stream`, withKey(ofKey, signal));
    await Promise.all([stream(key, over.signal), stream(secondKey, over.signal)]);

    const refused = await stream(thirdKey);
    expect(await refused.json()).toMatchObject(tooMany);
    expect(refused.headers.get('retry-after')).toBe('1');

    over.abort();
    let status = 429;
    while (status === 429) ({ status } = await stream(thirdKey, AbortSignal.timeout(2_000)));
    expect(status).toBe(200);
  });

  it('more waits of the keys of one account than it may have', async () => {
    const keys = await createKeys('waits');
    const { id } = await gateway.createRun({ input: 'Go.' }, keys[0]);
    const over = new AbortController();
    const wait = (key: string) => fetch(`${gateway.url}/v1/runs/${id}/wait?timeout_s=20`, withKey(key, over.signal));
    const answers = keys.map(wait);

    const refused = await Promise.race(answers); // the admitted ones have no answer while the run is queued
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject(tooMany);
    over.abort();
    const outcomes = await Promise.allSettled(answers);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('more unfinished bodies of the keys of one account than it may have', async () => {
    const [key, ...keys] = await createKeys('bytes', 4);
    const begin = (ofKey: string) =>
      beginPost(gateway.url, { path: '/v1/runs', key: ofKey, bytes: 400_000, sent: '{"input":' });
    const slow = keys.map(begin);
    let refused = await gateway
      .as(key)
      .post('/v1/runs')
      .send({ input: 'x'.repeat(380_000) });
    while (refused.status === 202)
      refused = await gateway
        .as(key)
        .post('/v1/runs')
        .send({ input: 'x'.repeat(380_000) });

    expect(refused.body).toMatchObject({ status: 429, code: 'too_many_bytes_in_flight' });
    expect(refused.headers['retry-after']).toBe('1');
    await gateway.as(key).get('/v1/runs').expect(200);
    await gateway.createRun({ input: 'x'.repeat(300_000) });

    for (const post of slow) post.destroy();
    while (refused.status === 429) refused = await gateway.as(key).post('/v1/runs').send({ input: 'Go.' });
    expect(refused.status).toBe(202);
  });

  it('more subscriptions of one account than its share of the memory allows', async () => {
    const [key, secondKey = ''] = await createKeys('subscriptions', 2);
    const sockets = [gateway.socket(key), gateway.socket(secondKey)];
    await Promise.all(sockets.map((socket) => nextEvent(socket, 'connect')));
    const runs = await Promise.all(Array.from({ length: 60 }, () => gateway.createRun(undefined, key)));
    const subscribe = (socket: Socket, { id }: Run) => socket.emitWithAck('run.subscribe', { run_id: id });
    const answers = await Promise.all(sockets.flatMap((socket) => runs.map((run) => subscribe(socket, run))));

    const refused = answers.filter(({ ok }) => !ok);
    expect(refused.length).toBeGreaterThan(50);
    expect(refused[0].error).toMatchObject({ status: 429, code: 'too_many_bytes_in_flight', retry_after_s: 1 });
    const run = await gateway.createRun();
    const other = gateway.socket();
    await nextEvent(other, 'connect');
    expect(await subscribe(other, run)).toMatchObject({ ok: true });

    for (const socket of sockets) socket.disconnect();
    let status = 429;
    while (status === 429) {
      const waited = await fetch(`${gateway.url}/v1/runs/${run.id}/wait?timeout_s=1`, withKey(adminKey));
      ({ status } = waited);
    }
    expect(status).toBe(200);
  });

  it('more bytes of unfinished messages of one account than its share of the memory allows', async () => {
    const [key, secondKey = ''] = await createKeys('messages', 2);
    const sockets = [gateway.socket(key), gateway.socket(secondKey)];
    await Promise.all(sockets.map((socket) => nextEvent(socket, 'connect')));
    const ended = Promise.race(sockets.map((socket) => nextEvent(socket, 'disconnect')));
    for (const socket of sockets) {
      const { ws } = socket.io.engine.transport as unknown as { ws: { _socket: TcpSocket } }; // not in its types
      const head = Buffer.alloc(14);
      head.writeUInt16BE(0x81ff, 0);
      head.writeBigUInt64BE(BigInt(390_000), 2);
      ws._socket.write(Buffer.concat([head, Buffer.alloc(380_000)]));
    }
    expect((await ended)[0]).toBe('transport close');
    await nextEvent(gateway.socket(key), 'connect');
  });
});
