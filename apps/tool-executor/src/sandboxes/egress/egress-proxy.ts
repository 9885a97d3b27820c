import { once } from 'node:events';
import { chmod, chown, rm } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { SecretTarget } from '@rondo/contract';
import { OutboundRefusal, bareHost, dial } from '@rondo/platform';
import { EgressRefusal } from './destination';
import { type EgressGate, TooManyRequests } from './egress-gate';
import type { SecretRelay } from './secret-relay';
import { type Head, InvalidHttp, writeHead, writeForwarded, isInterim, readHead, toRequest } from './message-head';

const maximumConnections = 64;
const idleTimeoutMs = 60_000;
/** Delays the refusal of a client that exceeds its rate; meanwhile it uses up one of its connections. */
const refusalDelayMs = 1_000;
/** Time for a refused client to read the reason. */
const readReasonMs = 1_000;

const tooManyConnections = new TooManyRequests(
  `Too many connections: this sandbox may have ${maximumConnections} at a time. Close some.`,
);

/**
 * The only way out of a sandbox: an HTTP and CONNECT proxy on a unix socket of its own. It connects only to destinations
 * that the gate admits. Each connection carries one request: everything after the head of a request goes to the host of
 * that request, so pipelined requests are not interpreted.
 */
export class EgressProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private clients = 0;

  /** With a relay, requests to hosts of secrets are looked into. */
  constructor(
    private readonly gate: Pick<EgressGate, 'admit'>,
    private readonly relay?: SecretRelay,
  ) {
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      this.track(socket);
      if (this.clients >= maximumConnections) refuse(socket, tooManyConnections);
      else void this.serve(socket);
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

  private async serve(client: Socket): Promise<void> {
    const leaving = new AbortController();
    this.clients += 1;
    client.on('close', () => {
      this.clients -= 1;
      leaving.abort();
    });
    try {
      const head = await readHead(client);
      if (!head) client.destroy();
      else if (toRequest(head).method === 'CONNECT') await this.tunnel(client, head, leaving.signal);
      else await this.forward(client, head, leaving.signal);
    } catch (error) {
      if (error instanceof TooManyRequests) await delay(refusalDelayMs, undefined, { ref: false });
      refuse(client, error);
    }
  }

  private async tunnel(client: Socket, head: Head, leaving: AbortSignal): Promise<void> {
    const target = parseTarget(`http://${toRequest(head).target}`);
    const secured = toSecretTarget(target, 'https:');
    if (this.relay?.covers(secured)) return this.relay.acceptTls(client, { target: secured, leaving });
    const outside = await this.connect(target, leaving);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    send(client, outside);
    receive(client, outside);
  }

  private async forward(client: Socket, head: Head, leaving: AbortSignal): Promise<void> {
    const { method, target, version } = toRequest(head);
    const url = parseTarget(target);
    const plain = toSecretTarget(url, 'http:');
    if (url.protocol === 'http:' && this.relay?.covers(plain)) {
      client.unshift(Buffer.from(writeHead(head), 'latin1'));
      this.relay.acceptPlain(client, { target: plain, leaving });
      return;
    }
    const outside = await this.connect(url, leaving);
    outside.write(
      writeForwarded({ ...head, first: `${method} ${url.pathname}${url.search} ${version}` }, url.host),
      'latin1',
    );
    send(client, outside);
    let answer = await readAnswer(outside);
    for (; isInterim(answer); answer = await readAnswer(outside)) client.write(writeHead(answer), 'latin1');
    client.write(writeForwarded(answer), 'latin1');
    receive(client, outside);
  }

  private async connect(target: URL, leaving: AbortSignal): Promise<Socket> {
    if (target.protocol !== 'http:') throw new EgressRefusal('Only http and CONNECT pass through here.');
    const { hostname, port } = target;
    const outside = await dial(await this.gate.admit({ hostname, port: Number(port || 80) }), leaving);
    this.track(outside);
    return outside;
  }

  /** Closes every socket, of clients and of hosts, when it idles or when the sandbox ends. */
  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.setTimeout(idleTimeoutMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.sockets.delete(socket));
  }
}

const toSecretTarget = ({ hostname, port }: URL, protocol: SecretTarget['protocol']): SecretTarget => ({
  ...{ protocol, hostname: bareHost(hostname).toLowerCase() },
  port: Number(port || 80), // also of a tunnel, whose target is read like one of a URL
});

function send(client: Socket, outside: Socket): void {
  client.pipe(outside);
  client.on('close', () => outside.destroy());
}

function receive(client: Socket, outside: Socket): void {
  outside.pipe(client);
  outside.on('close', () => client.destroySoon());
  if (outside.destroyed) client.destroySoon();
}

async function readAnswer(outside: Socket): Promise<Head> {
  const answer = await readHead(outside).catch(() => undefined);
  if (!answer) throw new Error('The host did not answer.');
  return answer;
}

/** Reads and discards the rest of the request: closing a connection with unread bytes would lose the response. */
function refuse(client: Socket, error: unknown): void {
  client.unpipe();
  client.resume();
  client.end(refusal(error));
  client.on('end', () => client.destroySoon());
  setTimeout(() => client.destroy(), readReasonMs).unref();
}

function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new EgressRefusal('The request names no host.');
  return url;
}

/** The HTTP response that a refused command reads. */
export function refusal(error: unknown): string {
  const { status, text } = toStatus(error);
  const retry = status === 429 ? 'Retry-After: 1\r\n' : '';
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: text/plain\r\n${retry}`;
  return `${head}Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`;
}

function toStatus(error: unknown): { status: number; text: string } {
  if (error instanceof TooManyRequests) return { status: 429, text: `${error.message}\n` };
  if (error instanceof OutboundRefusal) return { status: 403, text: `${error.message}\n` };
  if (error instanceof InvalidHttp) return { status: 400, text: `${error.message}\n` };
  return { status: 502, text: 'The host could not be reached.\n' };
}
