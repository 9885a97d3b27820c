import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  ServerResponse,
  request,
} from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { type PreviewAddress, readPreviewLabel } from '@rondo/messaging';
import type { Logger } from '@rondo/platform';
import { clientSignal } from '../http/client-signal';
import { ApiError } from '../problems/api-error';
import { problemResponse } from '../problems/problem-response';

export interface PreviewParts {
  /** A URL whose `*` stands for the preview. */
  readonly template: string;
  /** A connection to the port, for as long as the signal is not aborted; rejects with ApiError where there is none. */
  readonly connect: (address: PreviewAddress, client: AbortSignal) => Promise<Duplex>;
  readonly log: Pick<Logger, 'warn'>;
  /** How long a server may take to begin its answer, once no more of the request arrives. */
  readonly answerWithinMs?: number;
}

/** What a server has answered. With a connection, it has accepted the upgrade and has already sent the head. */
interface Answer {
  readonly message: IncomingMessage;
  readonly upgraded?: { readonly connection: Duplex; readonly head: Buffer };
}

const usualAnswerWithinMs = 60_000;

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
      if (address && socket instanceof Socket) void this.upgrade(address, incoming, { socket, head });
      else for (const other of otherUpgrades) Reflect.apply(other, server, [incoming, socket, head]);
    });
  }

  private addressOf({ headers }: IncomingMessage): PreviewAddress | undefined {
    const [, label] = this.host.exec(headers.host ?? '') ?? [];
    return label === undefined ? undefined : readPreviewLabel(label);
  }

  private async pass(address: PreviewAddress, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { message, upgraded } = await this.send(address, incoming, clientSignal(incoming, response));
      upgraded?.connection.destroy(); // an upgrade that the client did not ask for
      answerWith(message, response);
    } catch (error) {
      this.refuse(response, error);
    }
  }

  private async upgrade(
    address: PreviewAddress,
    incoming: IncomingMessage,
    { socket, head }: { socket: Socket; head: Buffer },
  ): Promise<void> {
    socket.on('error', () => socket.destroy());
    // Only who reads learns that the client has left. One that sends nothing more has left too, whatever the server does.
    const sent = socket.pipe(new PassThrough());
    socket.once('end', () => socket.destroy());
    sent.write(head);
    const response = new ServerResponse(incoming);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.once('finish', () => socket.destroySoon());
    try {
      const { message, upgraded } = await this.send(address, incoming, clientSignal(incoming));
      if (!upgraded) {
        answerWith(message, response);
        return;
      }
      const { connection } = upgraded;
      response.detachSocket(socket);
      socket.write(headOf(message));
      socket.write(upgraded.head);
      connection.once('close', () => socket.destroy());
      sent.pipe(connection).pipe(socket);
    } catch (error) {
      this.refuse(response, error);
    }
  }

  /** Everything ends with the client: the tunnel, and the request in it. */
  private async send(address: PreviewAddress, incoming: IncomingMessage, client: AbortSignal): Promise<Answer> {
    const connection = await this.parts.connect(address, client);
    const upgrade = incoming.headers.upgrade;
    const outgoing = request({
      createConnection: () => connection,
      signal: client,
      method: incoming.method,
      path: incoming.url,
      headers: {
        ...withoutHops(incoming.headers),
        ...this.forwarded(address, incoming),
        ...(upgrade === undefined ? { connection: 'close' } : { connection: 'upgrade', upgrade }),
      },
    });
    const answer = firstAnswer(outgoing);
    this.limit(outgoing, incoming);
    incoming.pipe(outgoing);
    return answer;
  }

  /** A server that does not begin its answer is given up, and its tunnel with it. */
  private limit(outgoing: ClientRequest, incoming: IncomingMessage): void {
    const late = new ApiError('preview_timeout', 'The server in the sandbox did not answer in time.');
    const timer = setTimeout(() => outgoing.destroy(late), this.parts.answerWithinMs ?? usualAnswerWithinMs);
    incoming.on('data', () => timer.refresh());
    for (const end of ['response', 'upgrade', 'close'] as const) outgoing.once(end, () => clearTimeout(timer));
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
    const known = error instanceof ApiError ? error : new ApiError('preview_unavailable', noAnswer);
    if (known !== error) this.parts.log.warn({ error }, 'preview failed');
    const { body, headers } = problemResponse(known);
    response.writeHead(body.status, { ...headers, 'Content-Type': 'application/problem+json' });
    response.end(JSON.stringify(body));
  }
}

const noAnswer = 'The server in the sandbox did not answer.';

function firstAnswer(outgoing: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    outgoing
      .once('response', (message) => resolve({ message }))
      .once('upgrade', (message, connection, head) => resolve({ message, upgraded: { connection, head } }))
      .once('error', reject);
  });
}

function answerWith(message: IncomingMessage, response: ServerResponse): void {
  response.writeHead(message.statusCode ?? 502, withoutHops(message.headers));
  response.once('close', () => message.destroy());
  message.once('error', () => response.destroy());
  message.pipe(response);
}

/** The head of an answer as it came, with every header as often as the server sent it. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}\r\n`] : []));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`;
}

const withoutHops = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));
