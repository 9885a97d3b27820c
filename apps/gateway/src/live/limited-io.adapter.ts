import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext, WsMessageHandler } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, ServerOptions, Socket } from 'socket.io';
import type { ConcurrencyLimit } from '../auth/concurrency-limits';
import { serializedEventParser } from './serialized-event';

type Connected = Parameters<IoAdapter['bindMessageHandlers']>[0];

/** A message's arguments as Nest maps them. */
interface Message {
  readonly data: unknown;
  readonly ack?: (answer: unknown) => void;
}

export interface SocketLimits {
  readonly messageBytes: number;
  /** Connections per address that have not sent a valid key yet. */
  readonly unauthenticated: ConcurrencyLimit;
  readonly addressOf: (request: IncomingMessage) => string;
}

type Allow = (refused: string | null, allowed: boolean) => void;

/** A connection that sends no key within this time is closed. */
const connectTimeoutMs = 10_000;

/** Socket.IO with our limits: WebSocket first, and no larger message than a REST body. */
export class LimitedIoAdapter extends IoAdapter {
  private readonly onAuthenticated = new WeakMap<Socket['conn'], () => void>();

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
      connectTimeout: connectTimeoutMs,
      allowRequest: (request: IncomingMessage, allow: Allow) => this.allow(request, allow),
      serveClient: false,
      parser: serializedEventParser,
    }) as Server; // Nest types it as any
    server.of('/').use((_, next) => next(new Error('not_found'))); // the default namespace has no authentication and no use
    server.engine.on('flush', corkPackets);
    server.engine.on('connection', (connection: Socket['conn']) => this.countUnauthenticated(connection));
    server.of('/runs').on('connection', ({ conn }) => this.onAuthenticated.get(conn)?.());
    return server;
  }

  private allow(request: IncomingMessage, answer: Allow): void {
    const isFull = this.limits.unauthenticated.isFull(this.limits.addressOf(request));
    answer(isFull ? 'too_many_connections' : null, !isFull);
  }

  private countUnauthenticated(connection: Socket['conn']): void {
    try {
      const release = this.limits.unauthenticated.acquire(this.limits.addressOf(connection.request));
      this.onAuthenticated.set(connection, release);
      connection.once('close', release);
    } catch {
      connection.close(); // others were accepted since `allow` checked
    }
  }

  /** Each handler answers with one acknowledgement, so Nest's stream around every message is not needed. */
  override bindMessageHandlers(socket: Connected, handlers: readonly WsMessageHandler[]): void {
    for (const { message, callback } of handlers) {
      socket.on(message, (...sent: unknown[]) => {
        const { data, ack } = this.mapPayload(sent.length === 1 ? sent[0] : sent) as Message;
        void Promise.resolve(callback(data)).then((answer: unknown) => ack?.(answer));
      });
    }
  }
}

/** Makes one write of packets that are flushed together; by itself, the library makes a system call for each. */
function corkPackets({ request, transport }: Socket['conn'], packets: readonly unknown[]): void {
  if (packets.length === 1 || transport.name !== 'websocket') return;
  request.socket.cork();
  process.nextTick(() => request.socket.uncork());
}
