import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { CdpConnection } from '../cdp-connection';

const command = z.object({ id: z.number() });

/** DevTools that answer each command as a test says. */
export class TestDevTools {
  answer: (socket: WebSocket, id: number) => void = () => undefined;

  private constructor(private readonly server: WebSocketServer) {
    server.on('connection', (socket) =>
      socket.on('message', (data: Buffer) => this.answer(socket, command.parse(JSON.parse(data.toString())).id)),
    );
  }

  static async open(): Promise<TestDevTools> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    const devTools = new TestDevTools(server);
    await once(server, 'listening');
    return devTools;
  }

  connect(): Promise<CdpConnection> {
    const { port } = this.server.address() as AddressInfo; // It listens on TCP.
    return CdpConnection.over(connect(port, '127.0.0.1'), '/devtools/browser/1');
  }

  close(): Promise<unknown> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}
