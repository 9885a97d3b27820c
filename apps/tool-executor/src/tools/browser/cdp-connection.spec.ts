import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { BrowserLost, CommandRefused, PageUnresponsive } from './browser-errors';
import { CdpConnection } from './cdp-connection';

const version = { method: 'Browser.getVersion' };
const expected = { result: z.object({ product: z.string() }), timeoutMs: 500 };

describe('CdpConnection', () => {
  let server: WebSocketServer;
  let answer: (socket: WebSocket, id: number) => void;

  beforeAll(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) =>
      socket.on('message', (data: Buffer) =>
        answer(socket, z.object({ id: z.number() }).parse(JSON.parse(data.toString())).id),
      ),
    );
    await once(server, 'listening');
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const open = async () => {
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    return CdpConnection.over(connect(port, '127.0.0.1'), '/devtools/browser/1');
  };

  it('passes on answers, refusals and events', async () => {
    const connection = await open();
    const events: unknown[] = [];
    connection.on('Page.loadEventFired', ({ sessionId, params }) => events.push([sessionId, params]));
    answer = (socket, id) => {
      socket.send(JSON.stringify({ method: 'Page.loadEventFired', sessionId: 'S', params: { timestamp: 1 } }));
      if (id === 1) socket.send(JSON.stringify({ id, result: { product: 'Chrome' } }));
      if (id === 2) socket.send(JSON.stringify({ id, error: { message: 'No.' } }));
    };

    await expect(connection.send(version, expected)).resolves.toEqual({ product: 'Chrome' });
    await expect(connection.send(version, expected)).rejects.toThrow(CommandRefused);
    await expect(connection.send(version, expected)).rejects.toThrow(PageUnresponsive);
    expect(events).toHaveLength(3);
    expect(events[0]).toEqual(['S', { timestamp: 1 }]);
    connection.close();
    await expect(connection.send(version, expected)).rejects.toThrow(BrowserLost);
  });
});
