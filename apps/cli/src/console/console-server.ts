import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { BrowserAccess, isLoopback, isOpenedDirectly, isSameOrigin } from './browser-access';
import { GatewayProxy } from './gateway-proxy';
import { answer, refuse } from './local-answer';

interface ConsoleOptions {
  readonly gateway: URL;
  readonly key: string;
  /** 0: any. */
  readonly port: number;
}

/** The static files of the console. There is nothing secret in them: the gateway sends them without a key. */
const isPage = (path: string): boolean => path === '/' || path === '/console' || path.startsWith('/console/');

/** What the console, its queue board and the API's documents use. Other programs at the gateway's address get no key. */
const isApi = (path: string): boolean =>
  /^\/(v1\/|socket\.io\/|admin\/queues(\/|$)|docs(\/|$|-json)|openapi\.json$|asyncapi\.json$)/.test(path);

/**
 * The console of a gateway, on this machine. The files come from the gateway itself, so they are of its version and have
 * its Content-Security-Policy. The key is added here: the browser has only a cookie of this process, for a link that works once.
 */
export class ConsoleServer {
  /** The server itself knows no upgraded ones. */
  private readonly sockets = new Set<Duplex>();

  private readonly access: BrowserAccess;
  private readonly proxy: GatewayProxy;
  readonly url: string;

  private constructor(
    private readonly server: Server,
    port: number,
    { gateway, key }: Omit<ConsoleOptions, 'port'>,
  ) {
    this.access = new BrowserAccess(port);
    this.proxy = new GatewayProxy(gateway, key);
    this.url = `http://127.0.0.1:${port}`;
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) => this.handle(incoming, response));
    server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.upgrade(incoming, { socket, head }),
    );
  }

  /** Rejects with `EADDRINUSE` if the port is taken. */
  static async start({ port, ...of }: ConsoleOptions): Promise<ConsoleServer> {
    const server = createServer({ requestTimeout: 0 }); // a large upload takes its time
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address() as AddressInfo; // it listens on a port
    return new ConsoleServer(server, address.port, of);
  }

  /** Signs one browser in, once. */
  newLink(): string {
    return `${this.url}/session?code=${this.access.newCode()}`;
  }

  /** Breaks all connections. */
  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    for (const socket of this.sockets) socket.destroy();
    this.proxy.close();
    await once(this.server, 'close');
  }

  private handle(incoming: IncomingMessage, response: ServerResponse): void {
    const { pathname, search, searchParams } = toUrl(incoming);
    const { headers, method } = incoming;
    const isRead = method === 'GET' || method === 'HEAD';
    const asked = { incoming, path: `${pathname}${search}` };
    if (!isLoopback(headers.host)) refuse(response, forbidden('Open it as http://127.0.0.1 and its port.'));
    else if (pathname === '/session' && method === 'GET') this.signIn(searchParams.get('code') ?? '', response);
    else if (isPage(pathname) && isRead) this.proxy.pass({ ...asked, withKey: false }, response);
    else if (!isApi(pathname)) refuse(response, notFound);
    else if (!isSameOrigin({ headers, isRead })) refuse(response, forbidden('Only pages of the console may do this.'));
    else if (pathname === '/v1/session' && method === 'POST') refuse(response, forbidden(keyIsKept));
    else if (!this.access.isSignedIn(headers)) refuse(response, toUnauthorized(notSignedIn));
    else if (pathname === '/v1/session' && method === 'DELETE') answer(response, 204, this.signOut(incoming));
    else this.proxy.pass({ ...asked, withKey: true }, response);
  }

  private signIn(code: string, response: ServerResponse): void {
    if (!isOpenedDirectly(response.req.headers)) {
      refuse(response, forbidden('Open the link itself: a page of another origin may not sign a browser in.'));
      return;
    }
    const cookie = this.access.redeem(code);
    if (cookie === undefined) refuse(response, toUnauthorized(usedLink));
    else answer(response, 303, { Location: '/console/', 'Set-Cookie': cookie });
  }

  private signOut({ headers }: IncomingMessage): Record<string, string> {
    return { 'Set-Cookie': this.access.end(headers) };
  }

  private upgrade(incoming: IncomingMessage, connection: { readonly socket: Duplex; readonly head: Buffer }): void {
    const { pathname, search } = toUrl(incoming);
    const { headers } = incoming;
    const { socket } = connection;
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.sockets.delete(socket));
    const isAllowed =
      isLoopback(headers.host) &&
      pathname.startsWith('/socket.io/') &&
      isSameOrigin({ headers, isRead: false }) &&
      this.access.isSignedIn(headers);
    if (isAllowed) this.proxy.upgrade({ incoming, path: `${pathname}${search}`, withKey: true }, connection);
    else socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  }
}

/** Without `..`, which could lead out of the paths that get the key. */
function toUrl({ url = '/' }: IncomingMessage): URL {
  const base = 'http://127.0.0.1';
  return URL.canParse(url, base) ? new URL(url.replace(/^\/+/, '/'), base) : new URL(base);
}

const another = 'Press Enter at `rondo console` for another one.';
const usedLink = `This link was used before, or is of an earlier \`rondo console\`. ${another}`;
const notSignedIn = `This browser is not signed in: open the link that \`rondo console\` printed. ${another}`;
const keyIsKept = `The key is kept by \`rondo console\`, and none is taken here. Open the link that it printed. ${another}`;

const forbidden = (detail: string) => ({ status: 403, code: 'forbidden', title: 'Forbidden', detail });
const toUnauthorized = (detail: string) => ({ status: 401, code: 'unauthorized', title: 'Unauthorized', detail });
const notFound = {
  ...{ status: 404, code: 'not_found', title: 'Not Found' },
  detail: 'The console has no such page. It begins at /console/.',
};
