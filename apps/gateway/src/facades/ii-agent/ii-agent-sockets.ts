import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { iiAgentAddress } from '@rondo/contract/api';
import type { Caller } from '@rondo/persistence';
import { WebSocketServer } from 'ws';
import type { Authenticator } from '../../auth/authenticator';
import { requireClientScope } from '../../auth/client-access';
import type { ConcurrencyLimits } from '../../auth/concurrency-limits';
import { clientTokenIn, facadeKey } from '../../auth/credentials';
import { Holding } from '../../auth/memory-budget';
import { requireScope } from '../../auth/api-request';
import { parseInput } from '../../http/parse-input';
import { Admission, pieces } from '../../live/socket-admission';
import { refuseUnauthorized } from '../../problems/api-error';
import { problemResponse } from '../../problems/problem-response';
import { toFacadeError } from '../facade-errors';
import { type ConnectionParts, IiAgentConnection } from './ii-agent-connection';

export interface IiAgentSocketsParts extends ConnectionParts {
  readonly authenticator: Pick<Authenticator, 'callerOfSocket' | 'readAddress'>;
  readonly limits: ConcurrencyLimits;
  /** The longest message. */
  readonly messageBytes: number;
  /** Aborted when this process shuts down. */
  readonly closed: AbortSignal;
}

const socketPath = '/ii/ws';

/**
 * WebSockets of II-Agent. Who opens one is known before it is open: nothing that a client sends is read until then, and what is
 * refused is an answer of HTTP. Afterwards the limits of all sockets hold.
 */
export class IiAgentSockets {
  private readonly server: WebSocketServer;
  private readonly connected = new Set<IiAgentConnection>();

  constructor(private readonly parts: IiAgentSocketsParts) {
    this.server = new WebSocketServer({
      ...{ noServer: true, maxPayload: parts.messageBytes, perMessageDeflate: false, autoPong: false },
      ...pieces,
    });
    parts.closed.addEventListener('abort', () => {
      for (const connection of this.connected) connection.leave();
    });
  }

  /** Takes its upgrades from the server; all others go on as before. */
  attach(server: Server): void {
    const others = server.listeners('upgrade');
    server.removeAllListeners('upgrade');
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (readUrl(request).path === socketPath && socket instanceof Socket) void this.open(request, socket, head);
      else for (const other of others) Reflect.apply(other, server, [request, socket, head]);
    });
  }

  private async open(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      const admission = this.admit(request, socket);
      if (head.length > 0) socket.destroy(); // no client sends anything before it has the answer
      const address = parseInput(iiAgentAddress, readUrl(request).query);
      const caller = await this.findCaller(request, address.token);
      const release = this.parts.limits.acquireSocket(caller);
      socket.once('close', release);
      if (socket.destroyed) {
        release();
        return;
      }
      admission.admit(new Holding(this.parts.limits.memory, caller.accountId));
      this.server.handleUpgrade(request, socket, head, (client) => {
        socket.prependListener('data', (chunk: Buffer) => admission.receive(chunk.length));
        client.on('message', () => admission.completeMessage());
        const connection = new IiAgentConnection(client, { caller, address, request }, this.parts);
        this.connected.add(connection);
        client.once('close', () => this.connected.delete(connection));
        connection.open();
        if (this.parts.closed.aborted) connection.leave();
      });
    } catch (error) {
      refuse(request, socket, error);
    }
  }

  /** Restricts it until its caller is known. Throws `too_many_connections`. */
  private admit(request: IncomingMessage, socket: Socket): Admission {
    const { limits, authenticator } = this.parts;
    const release = limits.unauthenticatedSockets.acquire(authenticator.readAddress(request));
    const admission = new Admission(release, () => socket.destroy());
    socket.once('close', () => admission.end());
    return admission;
  }

  /** By a key in a header, a client token in the URL, or the cookie of a page of this origin. */
  private async findCaller(request: IncomingMessage, token: string | undefined): Promise<Caller> {
    const key = facadeKey(request.headers) ?? clientTokenIn(token);
    const caller = await this.parts.authenticator.callerOfSocket(key, request);
    if (!caller) throw refuseUnauthorized('Send a valid API key in a header, or a client token as `token` of the URL.');
    if (caller.client) requireClientScope(caller.client, 'read');
    else requireScope(caller, 'read');
    return caller;
  }
}

function readUrl({ url = '' }: IncomingMessage): { readonly path: string; readonly query: Record<string, string> } {
  const [path = '', query = ''] = url.split('?');
  return { path, query: Object.fromEntries(new URLSearchParams(query)) };
}

function refuse(request: IncomingMessage, socket: Socket, error: unknown): void {
  const { body, headers } = problemResponse(error);
  const text = toFacadeError(body, { method: 'GET', path: socketPath, requestId: null })?.text ?? '';
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.once('finish', () => socket.destroySoon());
  response.writeHead(body.status, { 'Content-Type': 'application/json; charset=utf-8', ...headers }).end(text);
}
