import { type Server, connect, createServer } from 'node:net';
import { collect, readStream } from './live/testing/sse-reader';
import { RunningGateway } from './testing/running-gateway';
import { testServer } from './testing/test-server';

/** A port without a listener. */
async function deadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

/** Forwards a port that had no listener to the test server. */
async function openNats(port: number): Promise<Server> {
  const { hostname, port: natsPort } = new URL(testServer('TEST_NATS_URL'));
  const forwarder = createServer((socket) => {
    const server = connect(Number(natsPort), hostname);
    socket.pipe(server).pipe(socket);
    socket.on('error', () => server.destroy());
    server.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => forwarder.listen(port, '127.0.0.1', resolve));
  return forwarder;
}

let gateway: RunningGateway;
let natsPort: number;
let forwarder: Server | undefined;
beforeAll(async () => {
  natsPort = await deadPort();
  gateway = await RunningGateway.start({
    REDIS_URL: `redis://127.0.0.1:${await deadPort()}`,
    NATS_URL: Object.assign(new URL(testServer('TEST_NATS_URL')), { port: String(natsPort) }).href,
  });
});
afterAll(async () => {
  await gateway.close();
  forwarder?.close();
});

describe('a gateway without Redis and NATS (I1)', () => {
  it('is live and ready, and reports what is missing', async () => {
    await gateway.anonymous.get('/health/live').expect(200);
    const { body } = await gateway.anonymous.get('/health/ready').expect(200);
    expect(body).toMatchObject({ status: 'ready' });
    expect([...body.degraded].sort()).toEqual(['nats', 'redis']);
  });

  it('accepts, shows and stops runs; subscribers read the facts from the log (I7)', async () => {
    const run = await gateway.createRun();
    const reading = collect(readStream(`${gateway.url}/v1/runs/${run.id}/stream`));
    while (gateway.parts.subscriptions.runCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));

    await gateway.as().post(`/v1/runs/${run.id}/stop`).expect(202);
    expect((await gateway.read(run.id)).status).toBe('stopped');
    expect((await reading).map(({ event }) => event).at(-1)).toBe('run.stopped');
  });

  it('connects to NATS once it is there', async () => {
    forwarder = await openNats(natsPort);
    await gateway.parts.feed.ping();

    const { body } = await gateway.anonymous.get('/health/ready').expect(200);
    expect(body.degraded).toEqual(['redis']);
  });
});
