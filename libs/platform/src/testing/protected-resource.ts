import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AuthorizationServer } from './authorization-server';

type Handle = (request: Request) => Promise<Response>;

/** A server over loopback that wants a token of the authorization server, for itself and no other, and says where that is. */
export class ProtectedResource {
  /** The header `Authorization` of each request. */
  readonly authorizations: (string | undefined)[] = [];
  /** What its metadata say otherwise. */
  metadata: object = {};

  private constructor(
    private readonly http: Server,
    readonly port: number,
    private readonly parts: { readonly authorization: AuthorizationServer; readonly handle: Handle },
  ) {}

  static async open(
    authorization: AuthorizationServer,
    { handle = () => Promise.resolve(new Response('{}')), port: wanted = 0 }: { handle?: Handle; port?: number } = {},
  ): Promise<ProtectedResource> {
    const http = createServer((request, response) => void resource.serve(request, response));
    http.listen(wanted, '127.0.0.1');
    await once(http, 'listening');
    const port = (http.address() as { port: number }).port; // it listens on TCP
    const resource = new ProtectedResource(http, port, { authorization, handle });
    return resource;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  close(): Promise<void> {
    this.http.closeAllConnections();
    return new Promise((resolve) => this.http.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const body = method === 'POST' ? await text(request) : undefined;
    const path = '/.well-known/oauth-protected-resource/mcp';
    if (url === path) {
      const servers = { authorization_servers: [this.parts.authorization.issuer] };
      const said = { resource: this.url, ...servers, scopes_supported: ['tickets'], ...this.metadata };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
      return;
    }
    const { authorization } = request.headers;
    this.authorizations.push(authorization);
    if (!this.parts.authorization.accepts(authorization, this.url)) {
      const metadata = `http://127.0.0.1:${this.port}${path}`;
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="tickets"` }).end();
      return;
    }
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const given = new Request(this.url, { method, headers, ...(body !== undefined && { body }) });
    const answer = await this.parts.handle(given);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  }
}
