import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request as requestOver } from 'node:http';
import type { Socket } from 'node:net';
import { type Transform, pipeline } from 'node:stream';
import { TLSSocket, connect as startTls } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { SecretTarget } from '@rondo/contract';
import { OutboundRefusal, dial } from '@rondo/platform';
import type { EgressGate } from './egress-gate';
import { EgressRefusal } from './destination';
import type { SandboxSecrets } from './sandbox-secrets';
import type { SecretAuthority } from './secret-authority';
import type { SecretMask } from './secret-mask';

/** Of the connection, which this process makes anew. */
const hopByHop = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'expect'],
]);
const idleTimeoutMs = 60_000;

export interface SecretRelayParts {
  readonly gate: Pick<EgressGate, 'admit'>;
  /** Those of the sandbox at this moment. */
  readonly secrets: () => SandboxSecrets | undefined;
  readonly authority: SecretAuthority;
  /** Trusted besides the usual ones when it connects to hosts. */
  readonly hostAuthority?: string | undefined;
}

/** What one connection of a sandbox is for. */
interface Connection {
  readonly target: SecretTarget;
  readonly leaving: AbortSignal;
}

/**
 * Looks into the requests of a sandbox to hosts of its secrets: puts the value for a placeholder, sends the request on over a
 * connection of its own, on which the host has proved its name, and masks values that the host writes back.
 */
export class SecretRelay {
  private readonly connections = new WeakMap<Socket, Connection>();
  private readonly server = createServer((request, response) => void this.serve(request, response));

  constructor(private readonly parts: SecretRelayParts) {
    this.server.keepAliveTimeout = idleTimeoutMs;
    this.server.on('clientError', (_, socket) => socket.destroy());
  }

  covers(target: SecretTarget): boolean {
    return this.parts.secrets()?.covers(target) === true;
  }

  /** Takes over a connection that speaks plain HTTP. */
  acceptPlain(client: Socket, connection: Connection): void {
    this.connections.set(client, connection);
    this.server.emit('connection', client);
  }

  /** Takes over a tunnel, and speaks TLS as the host that it was meant for. */
  async acceptTls(client: Socket, connection: Connection): Promise<void> {
    const secureContext = await this.parts.authority.contextFor(connection.target.hostname);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const secured = new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    secured.on('error', () => client.destroy());
    client.on('close', () => secured.destroy());
    this.acceptPlain(secured, connection);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const connection = this.connections.get(request.socket);
      if (!connection) throw new Error('The connection is of no sandbox.');
      await this.relay(request, response, connection);
    } catch (error) {
      request.resume();
      if (response.headersSent) response.destroy();
      else refuse(response, error);
    }
  }

  private async relay(request: IncomingMessage, response: ServerResponse, connection: Connection): Promise<void> {
    const { gate } = this.parts;
    const secrets = this.parts.secrets();
    if (!secrets) throw new EgressRefusal('This sandbox can use no secrets any more.');
    const { target, leaving } = connection;
    const destination = await gate.admit({ hostname: target.hostname, port: target.port });
    const method = request.method ?? 'GET';
    const given = { target: readPath(request, target), headers: toPairs(request.rawHeaders) };
    const { head, used } = await secrets.fill(given, { target, method, signal: leaving });
    const outside = await this.connect(await dial(destination, leaving), connection);
    const sent = requestOver({
      createConnection: () => outside,
      ...{ method, path: head.target, headers: headersTo(head.headers, target) },
      signal: leaving,
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>; // Node's documented arguments
    pipeline(request, sent, () => undefined); // a failure is that of the answer
    const [answer] = await answered;
    answer.once('close', () => outside.destroy());
    for (const { answered: note } of used) note(answer.statusCode ?? 0);
    sendBack(answer, response, secrets.mask);
  }

  private async connect(socket: Socket, { target, leaving }: Connection): Promise<Socket> {
    const { protocol, hostname } = target;
    socket.setTimeout(idleTimeoutMs, () => socket.destroy());
    if (protocol === 'http:') return socket;
    const { hostAuthority } = this.parts;
    const named = /^[\d.]+$/.test(hostname) ? {} : { servername: hostname };
    const trusted = hostAuthority === undefined ? {} : { ca: hostAuthority };
    const secured = startTls({ socket, host: hostname, ...named, ...trusted, ALPNProtocols: ['http/1.1'] });
    try {
      await once(secured, 'secureConnect', { signal: leaving });
    } catch (error) {
      secured.on('error', () => undefined).destroy();
      throw error;
    }
    return secured;
  }
}

/** The path and query. A request for another host than that of its connection would carry the value there. */
function readPath({ url = '/', headers: { host } }: IncomingMessage, target: SecretTarget): string {
  const isUsual = target.port === (target.protocol === 'https:' ? 443 : 80);
  const authority = `${target.hostname}${isUsual ? '' : `:${target.port}`}`;
  const path = url.startsWith('/') ? url : absolutePath(url, `${target.protocol}//${authority}`);
  const names = [authority, `${target.hostname}:${target.port}`];
  if (path === undefined || host === undefined || !names.includes(host.toLowerCase()))
    throw new EgressRefusal(`The request names another host than ${authority}, to which it was connected.`);
  return path;
}

/** Of the form that clients send to proxies. Undefined where it is of another host. */
function absolutePath(url: string, origin: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.origin === new URL(origin).origin ? `${parsed.pathname}${parsed.search}` : undefined;
}

const toPairs = (raw: readonly string[]): (readonly [string, string])[] =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));

/** A host that compresses could hide a value from the mask, so none is asked to. */
function headersTo(
  pairs: readonly (readonly [string, string])[],
  target: SecretTarget,
): Record<string, string | string[]> {
  const dropped = new Set([...hopByHop, ...listConnectionHeaders(pairs), 'accept-encoding', 'host']);
  const isUsual = target.port === (target.protocol === 'https:' ? 443 : 80);
  return {
    ...groupPairs(pairs.filter(([name]) => !dropped.has(name.toLowerCase()))),
    'Accept-Encoding': 'identity',
    Host: `${target.hostname}${isUsual ? '' : `:${target.port}`}`,
    Connection: 'close',
  };
}

const listConnectionHeaders = (pairs: readonly (readonly [string, string])[]): readonly string[] =>
  pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));

function groupPairs(pairs: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  const headers = new Map<string, [name: string, values: string[]]>();
  for (const [name, value] of pairs) {
    const known = headers.get(name.toLowerCase());
    if (known) known[1].push(value);
    else headers.set(name.toLowerCase(), [name, [value]]);
  }
  return Object.fromEntries(
    [...headers.values()].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

const decoders: Readonly<Record<string, () => Transform>> = {
  ...{ gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress },
};

/** With values masked. An answer that is compressed all the same is unpacked, or refused where this process cannot do that. */
function sendBack(answer: IncomingMessage, response: ServerResponse, mask: SecretMask): void {
  const { statusCode = 502, statusMessage = '', rawHeaders, headers } = answer;
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  const isPacked = encoding !== undefined && encoding !== 'identity';
  const decode = encoding === undefined ? undefined : decoders[encoding];
  if (isPacked && !decode) {
    answer.destroy();
    throw new EgressRefusal(`The host answered with the encoding ${encoding}, in which a secret cannot be masked.`);
  }
  const dropped = new Set([...hopByHop, ...(isPacked ? ['content-encoding', 'content-length'] : [])]);
  const kept = toPairs(rawHeaders).filter(([name]) => !dropped.has(name.toLowerCase()));
  for (const [name, values] of Object.entries(groupPairs(kept)))
    response.setHeader(name, Array.isArray(values) ? values.map((value) => mask.text(value)) : mask.text(values));
  response.writeHead(statusCode, mask.text(statusMessage));
  response.flushHeaders();
  const stages = [...(isPacked && decode ? [decode()] : []), mask.stream()];
  pipeline([answer, ...stages, response], () => undefined); // what breaks off is broken off for the sandbox, too
}

/** The HTTP answer that a refused command reads. */
function refuse(response: ServerResponse, error: unknown): void {
  const isRefused = error instanceof OutboundRefusal;
  const text = isRefused ? error.message : 'The host could not be reached.';
  const status = error instanceof OutboundRefusal && error.name === 'TooManyRequests' ? 429 : isRefused ? 403 : 502;
  response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(`${text}\n`);
}
