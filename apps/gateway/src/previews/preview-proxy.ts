import { type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { type PreviewAddress, readPreviewLabel } from '@rondo/messaging';
import type { Logger } from '@rondo/platform';
import { ApiError } from '../problems/api-error';

export interface PreviewParts {
  /** A URL whose `*` stands for the preview. */
  readonly template: string;
  /** A connection to the port; rejects with ApiError where there is none. */
  readonly connect: (address: PreviewAddress) => Promise<Duplex>;
  readonly log: Pick<Logger, 'warn'>;
}

/** They concern one connection and are not passed on (RFC 9110). */
const hopByHop = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'];

/**
 * Passes requests for the host of a preview on to the server in the sandbox, WebSockets included, or to the executor's own
 * for a static site. Each preview has an origin
 * of its own, so that its pages can do nothing in the name of the API, of the console or of another preview.
 */
export class PreviewProxy {
  private readonly host: RegExp;
  private readonly protocol: string;

  constructor(private readonly parts: PreviewParts) {
    const { host, protocol } = new URL(parts.template.replace('*', 'x'));
    this.host = new RegExp(`^([a-z0-9-]+)\\.${host.slice('x.'.length).replaceAll('.', '\\.')}$`, 'i');
    this.protocol = protocol.slice(0, -1);
  }

  /** Takes the requests for previews from the server; all others go on as before. */
  attach(server: Server): void {
    const [others, otherUpgrades] = [server.listeners('request'), server.listeners('upgrade')];
    server.removeAllListeners('request').removeAllListeners('upgrade');
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
      const address = this.addressOf(incoming);
      if (address) void this.pass(address, incoming, response);
      else for (const other of others) Reflect.apply(other, server, [incoming, response]);
    });
    server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      const address = this.addressOf(incoming);
      if (address) void this.upgrade(address, incoming, { socket, head });
      else for (const other of otherUpgrades) Reflect.apply(other, server, [incoming, socket, head]);
    });
  }

  private addressOf({ headers }: IncomingMessage): PreviewAddress | undefined {
    const [, label] = this.host.exec(headers.host ?? '') ?? [];
    return label === undefined ? undefined : readPreviewLabel(label);
  }

  private async pass(address: PreviewAddress, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.send(address, incoming);
      response.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
      response.once('close', () => answer.destroy());
      answer.once('error', () => response.destroy());
      answer.pipe(response);
    } catch (error) {
      this.refuse(response, error);
    }
  }

  private async send(address: PreviewAddress, incoming: IncomingMessage): Promise<IncomingMessage> {
    const connection = await this.parts.connect(address);
    return new Promise((resolve, reject) => {
      const outgoing = request({
        createConnection: () => connection,
        method: incoming.method,
        path: incoming.url,
        headers: { ...withoutHops(incoming.headers), ...this.forwarded(address, incoming), connection: 'close' },
      });
      outgoing.once('response', resolve).once('error', reject);
      incoming.once('error', () => outgoing.destroy());
      incoming.pipe(outgoing);
    });
  }

  private async upgrade(
    address: PreviewAddress,
    incoming: IncomingMessage,
    { socket, head }: { socket: Duplex; head: Buffer },
  ): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      const connection = await this.parts.connect(address);
      const headers = { ...incoming.headers, ...this.forwarded(address, incoming) };
      const lines = Object.entries(headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
      );
      connection.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
      connection.write(head);
      connection.once('close', () => socket.destroy());
      socket.once('close', () => connection.destroy());
      connection.pipe(socket).pipe(connection);
    } catch (error) {
      this.parts.log.warn({ error }, 'preview not upgraded');
      socket.destroy();
    }
  }

  /** Servers of frameworks accept requests for `localhost` only, by default. */
  private forwarded({ port }: PreviewAddress, { headers }: IncomingMessage): Record<string, string> {
    return {
      host: port === undefined ? (headers.host ?? '') : `localhost:${port}`,
      'x-forwarded-host': headers.host ?? '',
      'x-forwarded-proto': this.protocol,
    };
  }

  private refuse(response: ServerResponse, error: unknown): void {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const isKnown = error instanceof ApiError;
    if (!isKnown) this.parts.log.warn({ error }, 'preview failed');
    response.writeHead(isKnown && error.code === 'file_not_found' ? 404 : 502, { 'Content-Type': 'text/plain' });
    response.end(isKnown ? error.message : 'The server in the sandbox did not answer.');
  }
}

const withoutHops = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));
