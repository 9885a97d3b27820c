import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext, WsMessageHandler } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, ServerOptions, Socket } from 'socket.io';
import { problemResponse } from '../problems/problem-response';
import { lengthOfMessage, serializedEventParser } from './serialized-event';
import { type AdmissionLimits, SocketAdmission } from './socket-admission';
import type { RunSocket } from './sockets';

type Connected = Parameters<IoAdapter['bindMessageHandlers']>[0];

/** A message's arguments as Nest maps them. */
interface Message {
  readonly data: unknown;
  readonly ack?: (answer: unknown) => void;
}

type Allow = (refused: string | null, allowed: boolean) => void;

interface SocketServerParts extends AdmissionLimits {
  /** For pages of other origins. Undefined: there are none. */
  readonly cors: ServerOptions['cors'] | undefined;
}

/** Socket.IO with our limits: WebSocket first, and no larger message than a REST body. */
export class LimitedIoAdapter extends IoAdapter {
  constructor(
    app: INestApplicationContext,
    private readonly limits: SocketServerParts,
  ) {
    super(app);
  }

  override createIOServer(port: number, options?: Partial<ServerOptions>): unknown {
    const admission = new SocketAdmission(this.limits);
    const server = super.createIOServer(port, {
      ...options,
      ...(this.limits.cors && { cors: this.limits.cors }),
      transports: ['websocket', 'polling'],
      maxHttpBufferSize: this.limits.messageBytes,
      allowRequest: (request: IncomingMessage, allow: Allow) => {
        const mayOpen = admission.mayOpen(request);
        allow(mayOpen ? null : 'too_many_connections', mayOpen);
      },
      wsEngine: admission.webSocketServer(),
      serveClient: false,
      parser: serializedEventParser,
    }) as Server; // Nest types it as any
    server.of('/').use((_, next) => next(new Error('not_found'))); // the default namespace has no authentication and no use
    server.engine.on('flush', corkPackets);
    admission.attach(server);
    server.of('/runs').on('connection', (socket: RunSocket) => {
      if (socket.data.caller) admission.admit(socket.conn, socket.data.caller.accountId);
      socket.once('disconnect', () => admission.dismiss(socket.conn));
    });
    return server;
  }

  /** Each handler answers with one acknowledgement, so Nest's stream around every message is not needed. */
  override bindMessageHandlers(socket: Connected, handlers: readonly WsMessageHandler[]): void {
    for (const { message, callback } of handlers) {
      socket.on(message, (...sent: unknown[]) => {
        const { data, ack } = this.mapPayload(sent.length === 1 ? sent[0] : sent) as Message;
        void this.answer(socket, data, callback).then((answer) => ack?.(answer));
      });
    }
  }

  /** Its account holds the message until it is answered, as the body of a request. */
  private async answer(socket: Connected, data: unknown, handle: (data: unknown) => unknown): Promise<unknown> {
    const { caller } = socket.data as RunSocket['data']; // Nest types it as any
    try {
      const release = this.limits.memory.acquire(caller?.accountId ?? '', lengthOfMessage(data));
      return await Promise.resolve(handle(data)).finally(release);
    } catch (error) {
      return { ok: false, error: problemResponse(error).body };
    }
  }
}

/** Makes one write of packets that are flushed together; by itself, the library makes a system call for each. */
function corkPackets({ request, transport }: Socket['conn'], packets: readonly unknown[]): void {
  if (packets.length === 1 || transport.name !== 'websocket') return;
  request.socket.cork();
  process.nextTick(() => request.socket.uncork());
}
