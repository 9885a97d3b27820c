import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { clientSignal, dropStalledClients, dropWhenStalled } from './client-signal';

const opened: (Server | Socket)[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) {
    if ('listen' in one) one.close().closeAllConnections();
    else one.destroy();
  }
});

const stalledMs = 50;
const endless = Buffer.alloc(64 * 1024 * 1024);

async function serving(server: Server, head: readonly string[] = []): Promise<Socket> {
  opened.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  opened.push(client);
  client.write(`${['GET / HTTP/1.1', 'Host: x', ...head].join('\r\n')}\r\n\r\n`);
  return client;
}

const aborted = (signal: AbortSignal) => (signal.aborted ? Promise.resolve() : once(signal, 'abort'));

describe('attack: slow readers', () => {
  it('that take nothing of an answer are cut off', async () => {
    const server = createServer();
    const client = await serving(server);
    const [incoming, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const signal = clientSignal(incoming, response, stalledMs);
    response.end(endless);
    await aborted(signal);
    await once(client.resume(), 'close');
    expect(client.bytesRead).toBeLessThan(endless.length);
  });

  it('that take nothing of an upgraded connection, or send what is not taken, are cut off', async () => {
    for (const direction of ['down', 'up'] as const) {
      const server = createServer();
      await serving(server, ['Connection: Upgrade', 'Upgrade: x']);
      const [, socket] = (await once(server, 'upgrade')) as [IncomingMessage, Socket];
      const other = new PassThrough();
      dropWhenStalled(socket, other, stalledMs);
      if (direction === 'down') socket.write(endless);
      else other.write(endless);
      await once(socket, 'close');
    }
  });
});

describe('the signal of a client', () => {
  it('is not given while its client waits, or has read everything', async () => {
    const server = createServer();
    const client = await serving(server);
    const [incoming, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const signal = clientSignal(incoming, response, stalledMs);
    response.write('begun');
    await once(client.resume(), 'data');
    await once(response, 'timeout');
    expect(signal.aborted).toBe(false);
    response.end();
    await aborted(signal);
  });

  it('is given at once where the client has left before', async () => {
    const server = createServer();
    const client = await serving(server);
    const [incoming, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    client.destroy();
    await once(response, 'close');
    expect(clientSignal(incoming, response).aborted).toBe(true);
  });
});

describe('a client of any request', () => {
  it('is cut off when it takes nothing of the answer, and not while it waits for one', async () => {
    const drop = dropStalledClients(stalledMs);
    const server = createServer((incoming, response) => drop(incoming as never, response as never, () => undefined));
    const client = await serving(server);
    const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    await once(response, 'timeout');
    expect(response.destroyed).toBe(false);
    response.end(endless);
    await once(response, 'close');
    await once(client.resume(), 'close');
    expect(client.bytesRead).toBeLessThan(endless.length);
  });
});
