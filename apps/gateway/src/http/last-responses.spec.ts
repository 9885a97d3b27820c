import { once } from 'node:events';
import { Agent, type IncomingMessage, type Server, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { lastResponses, untilUnused } from './last-responses';

describe('a server that is about to stop', () => {
  let server: Server;
  let client: Agent;
  let leaving: AbortController;
  beforeEach(async () => {
    leaving = new AbortController();
    const app = express().use(lastResponses(leaving.signal));
    app.get('/', (_, response) => void response.end('here'));
    server = createServer(app).listen(0, '127.0.0.1');
    client = new Agent({ keepAlive: true });
    await once(server, 'listening');
  });
  afterEach(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const request = async () => {
    const { port } = server.address() as AddressInfo;
    const [response] = (await once(get({ port, agent: client }), 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response.headers.connection;
  };

  it('ends each connection with the next response, and has stopped being used when all have', async () => {
    expect(await request()).toBe('keep-alive');

    leaving.abort();
    const unused = untilUnused(server, { withinMs: 60_000 });

    expect(await request()).toBe('close');
    await unused;
  });

  it('does not wait for a client that keeps its connection and sends nothing', async () => {
    await request();
    leaving.abort();

    await untilUnused(server, { withinMs: 100 });

    expect(client.freeSockets).not.toEqual({});
  });

  it('is unused when no client is connected', async () => {
    await untilUnused(server, { withinMs: 60_000 });
  });
});
