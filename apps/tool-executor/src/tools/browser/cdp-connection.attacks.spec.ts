import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { BrowserLost } from './browser-errors';
import { CdpConnection } from './cdp-connection';

const version = { method: 'Browser.getVersion' };
const expected = { result: z.object({ product: z.string() }), timeoutMs: 500 };

describe('attack: DevTools of a sandbox', () => {
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

  it.each<[string, (id: number) => string]>([
    ['sends no JSON', () => 'hello'],
    ['sends a list', () => '[]'],
    ['answers in another form', (id) => JSON.stringify({ id, result: { product: 7 } })],
    ['sends an event in another form', () => JSON.stringify({ method: 'Page.frameNavigated', params: 7 })],
    ['sends an error event', () => JSON.stringify({ method: 'error', params: {} })],
    ['sends more than a screenshot can have', () => JSON.stringify('x'.repeat(9 * 1024 * 1024))],
  ])('a program in the place of the browser that %s', async (_, message) => {
    const connection = await open();
    connection.on('Page.frameNavigated', ({ params }) => z.object({}).parse(params));
    answer = (socket, id) => socket.send(message(id));

    await expect(connection.send(version, { ...expected, timeoutMs: 5_000 })).rejects.toThrow(BrowserLost);
    await connection.closed;
  });
});
