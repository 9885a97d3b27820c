import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, ServerOptions, Socket } from 'socket.io';
import { readyTextParser } from './ready-text';

/** Socket.IO with our limits: WebSocket first, and no larger message than a REST body. */
export class LimitedIoAdapter extends IoAdapter {
  constructor(
    app: INestApplicationContext,
    private readonly limitBytes: number,
  ) {
    super(app);
  }

  override createIOServer(port: number, options?: Partial<ServerOptions>): unknown {
    const server = super.createIOServer(port, {
      ...options,
      transports: ['websocket', 'polling'],
      maxHttpBufferSize: this.limitBytes,
      serveClient: false,
      parser: readyTextParser,
    }) as Server; // Nest does not say so
    server.engine.on('flush', sendTogether);
    return server;
  }
}

/** Packets that leave at once are one write: by itself, the library makes a system call of each. */
function sendTogether({ request, transport }: Socket['conn'], packets: readonly unknown[]): void {
  if (packets.length === 1 || transport.name !== 'websocket') return;
  request.socket.cork();
  process.nextTick(() => request.socket.uncork());
}
