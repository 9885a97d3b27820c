import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext, WsMessageHandler } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, ServerOptions, Socket } from 'socket.io';
import type { ConcurrencyLimit } from '../auth/concurrency-limit';
import { readyTextParser } from './ready-text';

type Connected = Parameters<IoAdapter['bindMessageHandlers']>[0];

/** What Nest makes of a message's arguments. */
interface Message {
  readonly data: unknown;
  readonly ack?: (answer: unknown) => void;
}

export interface SocketLimits {
  readonly messageBytes: number;
  /** Connections of one address that have not shown a key yet. */
  readonly keyless: ConcurrencyLimit;
  readonly addressOf: (request: IncomingMessage) => string;
}

type Allow = (refused: string | null, allowed: boolean) => void;

/** A connection that shows no key is closed. */
const keylessMs = 10_000;

/** Socket.IO with our limits: WebSocket first, and no larger message than a REST body. */
export class LimitedIoAdapter extends IoAdapter {
  private readonly showedKey = new WeakMap<Socket['conn'], () => void>();

  constructor(
    app: INestApplicationContext,
    private readonly limits: SocketLimits,
  ) {
    super(app);
  }

  override createIOServer(port: number, options?: Partial<ServerOptions>): unknown {
    const server = super.createIOServer(port, {
      ...options,
      transports: ['websocket', 'polling'],
      maxHttpBufferSize: this.limits.messageBytes,
      connectTimeout: keylessMs,
      allowRequest: (request: IncomingMessage, allow: Allow) => this.allow(request, allow),
      serveClient: false,
      parser: readyTextParser,
    }) as Server; // Nest does not say so
    server.of('/').use((_, next) => next(new Error('not_found'))); // nobody is asked for a key there, and nothing is there
    server.engine.on('flush', sendTogether);
    server.engine.on('connection', (connection: Socket['conn']) => this.countKeyless(connection));
    server.of('/runs').on('connection', ({ conn }) => this.showedKey.get(conn)?.());
    return server;
  }

  private allow(request: IncomingMessage, answer: Allow): void {
    const isFull = this.limits.keyless.isFull(this.limits.addressOf(request));
    answer(isFull ? 'too_many_connections' : null, !isFull);
  }

  private countKeyless(connection: Socket['conn']): void {
    try {
      const giveBack = this.limits.keyless.take(this.limits.addressOf(connection.request));
      this.showedKey.set(connection, giveBack);
      connection.once('close', giveBack);
    } catch {
      connection.close(); // others were let in since `allow` looked
    }
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
