import type { Socket } from 'socket.io-client';
import { io } from 'socket.io-client';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { nextEvent } from '../testing/next-event';

let gateway: RunningGateway;
let other: RunningGateway;
let worker: TestWorker;
beforeAll(async () => {
  gateway = await RunningGateway.start();
  other = await RunningGateway.start({ DATABASE_URL: gateway.parts.config.DATABASE_URL });
  worker = await TestWorker.start(gateway.database);
});
afterAll(async () => {
  await worker.close();
  await gateway.close();
});

const connect = ({ url }: RunningGateway): Socket =>
  io(`${url}/runs`, { auth: { token: adminKey }, transports: ['websocket'], forceNew: true });

describe('a gateway that shuts down with subscribers', () => {
  it('disconnects its sockets, exits, and the run continues (I8)', async () => {
    const run = await gateway.createRun();
    const claimed = await worker.claim(run.id);
    const sockets = Array.from({ length: 20 }, () => connect(other));
    await Promise.all(sockets.map((socket) => socket.timeout(10_000).emitWithAck('run.subscribe', { run_id: run.id })));
    const disconnected = sockets.map((socket) => nextEvent(socket, 'disconnect'));
    claimed.streamText('in the middle of ');

    await other.close();
    await Promise.all(disconnected);
    for (const socket of sockets) socket.disconnect();

    claimed.streamText('a sentence');
    await claimed.finishMessage();
    await claimed.complete();
    expect((await gateway.read(run.id)).status).toBe('completed');
  });
});

describe('a gateway that shuts down while a client waits for a run', () => {
  it('answers, and asks for another connection for the next request (I8)', async () => {
    const leaving = await RunningGateway.start({ DATABASE_URL: gateway.parts.config.DATABASE_URL });
    const run = await gateway.createRun();
    const waiting = fetch(`${leaving.url}/v1/runs/${run.id}/wait?timeout_s=60`, {
      headers: { Authorization: `Bearer ${adminKey}` },
    });
    while (leaving.parts.subscriptions.subscriberCount === 0) await new Promise(setImmediate);

    await leaving.close();
    const response = await waiting;
    expect(response.headers.get('connection')).toBe('close');
    expect(await response.json()).toMatchObject({ id: run.id, status: 'queued' });
  });
});
