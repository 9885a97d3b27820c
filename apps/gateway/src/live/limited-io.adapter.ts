import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { ServerOptions } from 'socket.io';

/** Socket.IO with our limits: WebSocket first, and no larger message than a REST body. */
export class LimitedIoAdapter extends IoAdapter {
  constructor(
    app: INestApplicationContext,
    private readonly limitBytes: number,
  ) {
    super(app);
  }

  override createIOServer(port: number, options?: Partial<ServerOptions>): unknown {
    return super.createIOServer(port, {
      ...options,
      transports: ['websocket', 'polling'],
      maxHttpBufferSize: this.limitBytes,
      serveClient: false,
    });
  }
}
