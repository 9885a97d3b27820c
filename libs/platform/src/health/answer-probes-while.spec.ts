import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { answerProbesWhile } from './answer-probes-while';

async function listen(port = 0): Promise<Server> {
  const server = createServer((_request, response) => response.end('of the service')).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A port that nothing listens on. */
async function findPort(): Promise<number> {
  const server = await listen();
  const { port } = server.address() as AddressInfo; // a server that listens on TCP has one of this form
  await once(server.close(), 'close');
  return port;
}

describe('a service that cannot begin yet', () => {
  let waiting: { HOST: string; PORT: number; dependency: string };
  beforeEach(async () => (waiting = { HOST: '127.0.0.1', PORT: await findPort(), dependency: 'nats' }));

  const ask = (path: string) => fetch(`http://127.0.0.1:${waiting.PORT}${path}`);
  /** Resolves when probes are answered. */
  const begin = () =>
    new Promise<{ prepared: Promise<string>; finish: () => void }>((begun) => {
      const prepared = answerProbesWhile(
        waiting,
        () => new Promise<string>((resolve) => begun({ prepared, finish: () => resolve('prepared') })),
      );
    });

  it('is live, and not ready because of what it waits for', async () => {
    const { prepared, finish } = await begin();

    const live = await ask('/health/live');
    expect({ status: live.status, body: await live.json() }).toEqual({ status: 200, body: { status: 'live' } });
    const ready = await ask('/health/ready');
    expect(ready.headers.get('content-type')).toContain('application/problem+json');
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({
      status: 503,
      body: { code: 'not_ready', detail: 'Not reachable: nats.', failing: ['nats'] },
    });
    expect((await ask('/metrics')).status).toBe(503);

    finish();
    expect(await prepared).toBe('prepared');
  });

  it('leaves its port to the service at once, although a probe keeps its connection open', async () => {
    const { prepared, finish } = await begin();
    const idle = connect(waiting.PORT, '127.0.0.1');
    await once(idle, 'connect');

    finish();
    await prepared;

    const service = await listen(waiting.PORT);
    expect(await (await ask('/health/ready')).text()).toBe('of the service');
    service.close();
    service.closeAllConnections();
    idle.destroy();
  });

  it('fails as its preparation does, and answers no more', async () => {
    const failing = answerProbesWhile(waiting, () => Promise.reject(new Error('the id is taken')));

    await expect(failing).rejects.toThrow('the id is taken');
    await expect(ask('/health/live')).rejects.toThrow();
  });

  it('fails where another program listens', async () => {
    const other = await listen(waiting.PORT);

    await expect(answerProbesWhile(waiting, () => Promise.resolve())).rejects.toThrow('EADDRINUSE');

    other.close();
  });
});
