import type { INestApplicationContext, WsMessageHandler } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, ServerOptions, Socket } from 'socket.io';
import { readyTextParser } from './ready-text';

type Connected = Parameters<IoAdapter['bindMessageHandlers']>[0];

/** What Nest makes of a message's arguments. */
interface Message {
  readonly data: unknown;
  readonly ack?: (answer: unknown) => void;
}

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
    server.of('/').use((_, next) => next(new Error('not_found'))); // nobody is asked for a key there, and nothing is there
    server.engine.on('flush', sendTogether);
    return server;
  }

  /** Every handler of ours answers with one acknowledgement, so no stream need be made of each message. */
  override bindMessageHandlers(socket: Connected, handlers: readonly WsMessageHandler[]): void {
    for (const { message, callback } of handlers) {
      socket.on(message, (...sent: unknown[]) => {
        const { data, ack } = this.mapPayload(sent.length === 1 ? sent[0] : sent) as Message;
        void Promise.resolve(callback(data)).then((answer: unknown) => ack?.(answer));
      });
    }
  }
}

/** Packets that leave at once are one write: by itself, the library makes a system call of each. */
function sendTogether({ request, transport }: Socket['conn'], packets: readonly unknown[]): void {
  if (packets.length === 1 || transport.name !== 'websocket') return;
  request.socket.cork();
  process.nextTick(() => request.socket.uncork());
}
