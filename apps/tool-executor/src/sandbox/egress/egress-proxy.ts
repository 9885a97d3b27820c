import { once } from 'node:events';
import { chmod, chown, rm } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { OutboundRefusal, dial } from '@rondo/platform';
import { decideDestination, EgressRefusal, type EgressRules } from './destination';

const maximumConnections = 64;
const idleTimeoutMs = 60_000;
const hopByHop = ['connection', 'proxy-connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'upgrade'];

/**
 * The only way out of a sandbox: an HTTP and CONNECT proxy on a unix socket of its own. It resolves a name, checks every
 * address it got, and connects to the checked address and no other.
 */
export class EgressProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();

  constructor(private readonly rules: EgressRules) {
    this.server = createServer((request, response) => void this.forward(request, response));
    this.server.maxConnections = maximumConnections;
    this.server.on('connection', (socket: Socket) => this.track(socket));
    this.server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.tunnel({ request, socket, head });
    });
  }

  async listen(socketPath: string, uid?: number): Promise<void> {
    await rm(socketPath, { force: true });
    this.server.listen(socketPath);
    await once(this.server, 'listening');
    if (uid !== undefined) await chown(socketPath, uid, uid);
    await chmod(socketPath, 0o600);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async tunnel({ request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer }) {
    try {
      const target = parseTarget(`http://${request.url ?? ''}`);
      const outside = await this.connect(target);
      if (socket.destroyed) return void outside.destroy();
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) outside.write(head);
      socket.pipe(outside).pipe(socket);
      socket.on('close', () => outside.destroy());
      outside.on('close', () => socket.destroy());
    } catch (error) {
      const { status, text } = describe(error);
      socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${text}\n`);
    }
  }

  private async forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const target = parseTarget(request.url ?? '');
      const outside = await this.connect(target);
      if (response.destroyed) return void outside.destroy();
      const outgoing = httpRequest({
        createConnection: () => outside,
        method: request.method,
        path: `${target.pathname}${target.search}`,
        headers: { ...endToEnd(request.headers), host: target.host },
      });
      outgoing.on('error', () => response.destroy(response.headersSent ? new Error('cut off') : undefined));
      request.pipe(outgoing);
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's documented arguments.
      response.writeHead(incoming.statusCode ?? 502, endToEnd(incoming.headers));
      incoming.pipe(response);
      incoming.on('error', () => response.destroy());
      response.on('close', () => outgoing.destroy());
    } catch (error) {
      const { status, text } = describe(error);
      request.unpipe();
      if (!response.headersSent) response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(`${text}\n`);
    }
  }

  private async connect(target: URL): Promise<Socket> {
    if (target.protocol !== 'http:') throw new EgressRefusal('Only http and CONNECT pass through here.');
    const { hostname, port } = target;
    const socket = await dial(await decideDestination({ hostname, port: Number(port || 80) }, this.rules));
    this.track(socket);
    return socket;
  }

  /** Every socket, inside and out, ends when it idles or when the sandbox goes. */
  private track(socket: Duplex & { setTimeout?: Socket['setTimeout'] }): void {
    if (this.sockets.has(socket)) return;
    this.sockets.add(socket);
    socket.setTimeout?.(idleTimeoutMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.sockets.delete(socket));
  }
}

function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new EgressRefusal('The request names no host.');
  return url;
}

function endToEnd(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));
}

function describe(error: unknown): { status: number; text: string } {
  if (error instanceof OutboundRefusal) return { status: 403, text: error.message };
  return { status: 502, text: 'The host could not be reached.' };
}
