import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request,
} from 'node:http';
import { Agent as HttpsAgent, request as secureRequest } from 'node:https';
import { type Duplex, pipeline } from 'node:stream';
import { refuse } from './local-answer';

/** What is asked of the gateway. */
export interface Asked {
  readonly incoming: IncomingMessage;
  /** The path and the query. */
  readonly path: string;
  readonly withKey: boolean;
}

/**
 * Sends requests of a browser on to the gateway, and the answers back piece by piece as they come. A connection that breaks
 * on one side is broken on the other side too, so that the page sees what happened and resumes.
 */
export class GatewayProxy {
  private readonly agent: HttpAgent;

  constructor(
    private readonly gateway: URL,
    private readonly key: string,
  ) {
    this.agent =
      gateway.protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  }

  pass(asked: Asked, response: ServerResponse): void {
    const outgoing = this.send(asked);
    response.once('close', () => outgoing.destroy());
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answerHeaders(answer.headers));
      response.flushHeaders(); // a stream may say nothing for a while
      pipeline(answer, response, () => undefined);
    });
    outgoing.on('error', (error) => {
      asked.incoming.resume(); // the rest of a body that was refused early
      if (!response.headersSent) refuse(response, this.unreachable(error));
    });
    asked.incoming.on('error', () => outgoing.destroy());
    asked.incoming.pipe(outgoing);
  }

  /** For WebSockets. */
  upgrade(asked: Asked, { socket, head }: { readonly socket: Duplex; readonly head: Buffer }): void {
    const outgoing = this.send(asked, { connection: 'Upgrade', upgrade: 'websocket' });
    outgoing.once('upgrade', (answer, upstream, upstreamHead) => {
      socket.write(toHead(answer));
      socket.write(upstreamHead);
      upstream.write(head);
      upstream.once('error', () => upstream.destroy());
      upstream.once('close', () => socket.destroy());
      socket.once('close', () => upstream.destroy());
      upstream.pipe(socket).pipe(upstream);
    });
    outgoing.once('response', (answer) => {
      socket.end(`${statusLine(answer)}Connection: close\r\nContent-Length: 0\r\n\r\n`);
      answer.destroy();
    });
    outgoing.on('error', () => socket.destroy());
    socket.once('close', () => outgoing.destroy());
    outgoing.end();
  }

  close(): void {
    this.agent.destroy();
  }

  private send({ incoming, path, withKey }: Asked, more: Readonly<Record<string, string>> = {}): ClientRequest {
    const send = this.gateway.protocol === 'https:' ? secureRequest : request;
    const headers = { ...requestHeaders(incoming.headers, withKey ? this.key : undefined), ...more };
    const url = new URL(this.gateway);
    const prefix = url.pathname.replace(/\/+$/, '');
    return send({
      ...{ protocol: url.protocol, hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port },
      ...{ method: incoming.method, path: `${prefix}${path}`, headers, agent: this.agent },
    });
  }

  private unreachable({ code, message }: NodeJS.ErrnoException) {
    const detail = `${this.gateway.origin} cannot be reached (${code ?? message}). Try again when it is back.`;
    return { status: 502, code: 'gateway_unreachable', title: 'Bad Gateway', detail };
  }
}

const statusLine = ({ statusCode = 502, statusMessage = '' }: IncomingMessage): string =>
  `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`;

function toHead(answer: IncomingMessage): string {
  const headers = { ...answerHeaders(answer.headers), connection: 'Upgrade', upgrade: 'websocket' };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  );
  return `${statusLine(answer)}${lines.join('')}\r\n`;
}

/** They concern one connection and are not passed on (RFC 9110). */
const hopByHop = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'];

/** Headers that a browser sends about its origin and this server's; the gateway has another one. */
const originHeaders = /^(host|cookie|authorization|origin|referer|forwarded|x-forwarded-.*|sec-fetch-.*)$/;

/** Headers that the gateway sends about its own origin, and its invitation to type a password. */
const gatewayOriginHeaders = /^(set-cookie|strict-transport-security|alt-svc|www-authenticate|access-control-.*)$/;

const without = (headers: IncomingHttpHeaders, unwanted: RegExp): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name) && !unwanted.test(name)));

/** The headers of a browser's request, for the gateway. */
const requestHeaders = (headers: IncomingHttpHeaders, key: string | undefined): IncomingHttpHeaders => ({
  ...without(headers, originHeaders),
  ...(key !== undefined && { authorization: `Bearer ${key}` }),
});

/** The headers of the gateway's answer, for the browser. */
const answerHeaders = (headers: IncomingHttpHeaders): IncomingHttpHeaders => without(headers, gatewayOriginHeaders);
