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
import { clientSignal, dropWhenStalled } from '../http/client-signal';
import { ApiError } from '../problems/api-error';
import { problemResponse } from '../problems/problem-response';
import type { Visitor } from './preview-visitors';
import { isOwnCookie } from '../auth/browser-cookie';

interface PreviewParts {
  /** A URL whose `*` stands for the preview. */
  readonly template: string;
  /** A connection to the port, for as long as the visitor is there; rejects with ApiError where there is none. */
  readonly connect: (address: PreviewAddress, visitor: Visitor) => Promise<Duplex>;
  readonly isOwnSecret: RecognizesSecret;
  readonly log: Pick<Logger, 'warn'>;
  /** How long a server may take to begin its answer, once no more of the request arrives. */
  readonly answerWithinMs?: number;
}

interface Asked {
  readonly client: AbortSignal;
  /** Absent where the connection stays one of HTTP/1.1, whatever the client would have. */
  readonly upgrade?: string | undefined;
}

/** What a server has answered. With a connection, it has accepted the upgrade and has already sent the head. */
interface Answer {
  readonly message: IncomingMessage;
  /** For the visitor. */
  readonly headers: IncomingHttpHeaders;
  readonly upgraded?: { readonly connection: Duplex; readonly head: Buffer };
}

const usualAnswerWithinMs = 60_000;

/** They concern one connection and are not passed on (RFC 9110). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
];

/**
 * Passes requests for the host of a preview on to the server in the sandbox, WebSockets included, or to the executor's own
 * for a static site. Each preview has an origin
 * of its own, so that its pages can do nothing in the name of the API, of the console or of another preview.
 */
export class PreviewProxy {
  /** With the dot before it. */
  private readonly domain: string;
  private readonly protocol: string;

  constructor(private readonly parts: PreviewParts) {
    const { hostname, protocol } = new URL(parts.template.replace('*', 'x'));
    this.domain = hostname.slice('x'.length);
    this.protocol = protocol.slice(0, -1);
  }

  /** Takes the requests for previews from the server; all others go on as before. */
  attach(server: Server): void {
    const [others, otherUpgrades] = [server.listeners('request'), server.listeners('upgrade')];
    server.removeAllListeners('request').removeAllListeners('upgrade');
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
      const label = this.labelIn(incoming);
      if (label !== undefined) void this.pass(label, incoming, response);
      else for (const other of others) Reflect.apply(other, server, [incoming, response]);
    });
    server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      const label = this.labelIn(incoming);
      if (label !== undefined && socket instanceof Socket) void this.upgrade(label, incoming, { socket, head });
      else for (const other of otherUpgrades) Reflect.apply(other, server, [incoming, socket, head]);
    });
  }

  /** What stands before the domain of previews, at any port. All of its names are for previews, also those that are none. */
  private labelIn({ headers }: IncomingMessage): string | undefined {
    const name = (headers.host ?? '').toLowerCase().replace(/\.?(:\d*)?$/, '');
    return name.endsWith(this.domain) ? name.slice(0, -this.domain.length) : undefined;
  }

  private async pass(label: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.send(label, incoming, { client: clientSignal(incoming, response) });
      answer.upgraded?.connection.destroy(); // an upgrade that the client did not ask for
      answerWith(answer, response);
    } catch (error) {
      this.refuse(response, error);
    }
  }

  private async upgrade(
    label: string,
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
      const asked = { client: clientSignal(incoming), upgrade: incoming.headers.upgrade };
      const answer = await this.send(label, incoming, asked);
      const { upgraded } = answer;
      if (!upgraded) {
        answerWith(answer, response);
        return;
      }
      const { connection } = upgraded;
      response.detachSocket(socket);
      socket.write(toHead(answer.message));
      socket.write(upgraded.head);
      connection.once('close', () => socket.destroy());
      sent.pipe(connection).pipe(socket);
      dropWhenStalled(socket, connection);
    } catch (error) {
      this.refuse(response, error);
    }
  }

  /** Everything ends with the client: the tunnel, and the request in it. */
  private async send(label: string, incoming: IncomingMessage, { client, upgrade }: Asked): Promise<Answer> {
    const address = readPreviewLabel(label);
    if (!address) throw new ApiError('preview_not_found', 'There is no such preview.');
    const connection = await this.parts.connect(address, { origin: incoming, signal: client });
    const outgoing = request({
      createConnection: () => connection,
      signal: client,
      method: incoming.method,
      path: incoming.url,
      headers: {
        ...withoutOwnCredentials(withoutHops(incoming.headers), this.parts.isOwnSecret),
        ...this.forwardHeaders(address, incoming),
        ...(upgrade === undefined ? { connection: 'close' } : { connection: 'upgrade', upgrade }),
      },
    });
    const answer = firstAnswer(outgoing);
    this.limit(outgoing, incoming);
    incoming.pipe(outgoing);
    const { message, upgraded } = await answer;
    const publicOrigin = `${this.protocol}://${incoming.headers.host}`;
    return { message, headers: toHeaders(message, { address, publicOrigin }), ...(upgraded && { upgraded }) };
  }

  /** A server that does not begin its answer is given up, and its tunnel with it. */
  private limit(outgoing: ClientRequest, incoming: IncomingMessage): void {
    const late = new ApiError('preview_timeout', 'The server in the sandbox did not answer in time.');
    const timer = setTimeout(() => outgoing.destroy(late), this.parts.answerWithinMs ?? usualAnswerWithinMs);
    incoming.on('data', () => timer.refresh());
    for (const end of ['response', 'upgrade', 'close'] as const) outgoing.once(end, () => clearTimeout(timer));
  }

  /** Servers of frameworks accept requests for `localhost` only, by default. */
  private forwardHeaders({ port }: PreviewAddress, { headers }: IncomingMessage): Record<string, string> {
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

function firstAnswer(outgoing: ClientRequest): Promise<Omit<Answer, 'headers'>> {
  return new Promise((resolve, reject) => {
    outgoing
      .once('response', (message) => resolve({ message }))
      .once('upgrade', (message, connection, head) => resolve({ message, upgraded: { connection, head } }))
      .once('error', reject);
  });
}

function answerWith({ message, headers }: Answer, response: ServerResponse): void {
  response.writeHead(message.statusCode ?? 502, headers);
  response.once('close', () => message.destroy());
  message.once('error', () => response.destroy());
  message.pipe(response);
}

interface Redirected {
  readonly address: PreviewAddress;
  readonly publicOrigin: string;
}

function toHeaders({ headers }: IncomingMessage, redirected: Redirected): IncomingHttpHeaders {
  const cookies = headers['set-cookie']?.map(forOwnHost);
  const { location } = headers;
  return {
    ...withoutHops(headers),
    ...(cookies && { 'set-cookie': cookies }),
    ...(location !== undefined && { location: toPublicLocation(location, redirected) }),
  };
}

const absolute = /^(?<protocol>https?:)?\/\/(?<hostname>[^/?#:]*)(?::(?<port>\d*))?(?<rest>[/?#].*)?$/is;

/** A server that builds its redirects from the host it was asked for would send the visitor to the visitor's own machine. */
function toPublicLocation(location: string, { address, publicOrigin }: Redirected): string {
  const { protocol, hostname, port, rest } = absolute.exec(location)?.groups ?? {};
  const usual = protocol?.toLowerCase() === 'https:' ? 443 : 80;
  const isOwn = hostname?.toLowerCase() === 'localhost' && Number(port || usual) === address.port;
  return isOwn ? `${publicOrigin}${rest ?? ''}` : location;
}

const domainAttribute = /;\s*domain\s*(?:=[^;]*)?(?=;|$)/gi;

/** A cookie of the whole domain would be sent to every preview, so each is for the host alone that sets it. */
const forOwnHost = (setCookie: string): string => setCookie.replace(domainAttribute, '');

/** The head of an answer as it came but for domains of cookies, with every header as often as the server sent it. */
function toHead({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => {
    const value = rawHeaders[at + 1] ?? '';
    return at % 2 === 0 ? [`${name}: ${name.toLowerCase() === 'set-cookie' ? forOwnHost(value) : value}\r\n`] : [];
  });
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`;
}

const withoutHops = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));

/** Knows the secrets of this deployment by their form; whether they are valid does not matter. */
type RecognizesSecret = (secret: string) => boolean;

/**
 * The headers of a request without what signs its sender in to Rondo: browsers send cookies to more hosts than they were made
 * for, and clients send keys to URLs that are not the API's. Credentials of the visitor's own application stay.
 */
function withoutOwnCredentials(
  { cookie, authorization, 'x-api-key': apiKey, ...headers }: IncomingHttpHeaders,
  isOwn: RecognizesSecret,
): IncomingHttpHeaders {
  const cookies = (cookie ?? '')
    .split(';')
    .filter((pair) => !isOwnCookie(pair))
    .join(';')
    .trim();
  const isForeign = (credentials: string) => !secretsIn(credentials).some(isOwn);
  return {
    ...headers,
    ...(cookies !== '' && { cookie: cookies }),
    ...(authorization !== undefined && isForeign(authorization) && { authorization }),
    ...(apiKey !== undefined && isForeign(String(apiKey)) && { 'x-api-key': apiKey }),
  };
}

/** Of any scheme; a user and a password are two. */
function secretsIn(authorization: string): string[] {
  const words = authorization.split(/[\s,]+/);
  const [scheme = '', encoded = ''] = words;
  if (scheme.toLowerCase() !== 'basic') return words;
  const text = Buffer.from(encoded, 'base64').toString();
  return [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
}
