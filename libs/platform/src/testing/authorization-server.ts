import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';

interface Grant {
  readonly client: string;
  readonly resource: string;
  readonly scope: string;
  isRevoked: boolean;
}

interface Code extends Grant {
  readonly redirectUri: string;
  readonly challenge: string;
  grant?: Grant;
}

interface AuthorizationServerOptions {
  /** A free one, unless given. */
  readonly port?: number;
  /** Of access tokens. */
  readonly tokenSeconds?: number;
  /** What is said otherwise in its metadata. */
  readonly metadata?: object;
  readonly refreshes?: boolean;
}

class Refused extends Error {
  constructor(
    readonly code: string,
    readonly status = 400,
  ) {
    super(code);
  }
}

/**
 * An authorization server over loopback that refuses what real ones refuse: unknown clients, other redirect addresses, wrong
 * verifiers, codes and refresh tokens that were used before, and requests that name no resource or another one. Who comes to its page
 * consents at once.
 */
export class AuthorizationServer {
  readonly refusals: string[] = [];
  /** The forms that came for tokens. */
  readonly asked: URLSearchParams[] = [];
  /** What a request for tokens waits for. */
  hold: Promise<void> = Promise.resolve();
  private readonly clients = new Map<string, readonly string[]>();
  private readonly codes = new Map<string, Code>();
  private readonly access = new Map<string, Grant & { until: number }>();
  private readonly refresh = new Map<string, Grant & { isUsed: boolean }>();

  private constructor(
    private readonly http: Server,
    readonly port: number,
    private readonly options: AuthorizationServerOptions,
  ) {}

  static async open(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const http = createServer((request, response) => void server.serve(request, response));
    http.listen(options.port ?? 0, '127.0.0.1');
    await once(http, 'listening');
    const server = new AuthorizationServer(http, (http.address() as { port: number }).port, options); // it listens on TCP
    return server;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get refreshes(): number {
    return this.asked.filter((form) => form.get('grant_type') === 'refresh_token').length;
  }

  /** Whether a request with this header may use the resource. */
  accepts(authorization: string | undefined, resource: string): boolean {
    const token = this.access.get(authorization?.replace(/^Bearer /, '') ?? '');
    return token !== undefined && !token.isRevoked && token.resource === resource && token.until > Date.now();
  }

  /** What the token of such a header allows. */
  readScopes(authorization: string | null): readonly string[] {
    return this.access.get(authorization?.replace(/^Bearer /, '') ?? '')?.scope.split(' ') ?? [];
  }

  /** Of all access tokens, as if their time were over. */
  expireTokens(): void {
    for (const token of this.access.values()) token.until = 0;
  }

  /** The person takes back what they have allowed. */
  revokeAll(): void {
    for (const token of [...this.access.values(), ...this.refresh.values()]) token.isRevoked = true;
    for (const { grant } of this.codes.values()) if (grant) grant.isRevoked = true;
  }

  close(): Promise<void> {
    this.http.closeAllConnections();
    return new Promise((resolve) => this.http.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer);
    const body = await text(request);
    const send = (status: number, value: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
    try {
      switch (url.pathname) {
        case '/.well-known/oauth-authorization-server':
          return void send(200, this.metadata);
        case '/register':
          return void send(201, this.register(body));
        case '/authorize':
          return void send(302, {}, { location: this.authorize(url.searchParams) });
        case '/token':
          return void send(200, await this.token(new URLSearchParams(body)));
        case '/revoke':
          this.revokeAll();
          return void send(200, {});
        default:
          return void send(404, {});
      }
    } catch (error) {
      const refused = error instanceof Refused ? error : new Refused('server_error', 500);
      this.refusals.push(refused.code);
      send(refused.status, { error: refused.code });
    }
  }

  private get metadata(): object {
    const { issuer } = this;
    return {
      ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
      ...{ registration_endpoint: `${issuer}/register`, revocation_endpoint: `${issuer}/revoke` },
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      ...this.options.metadata,
    };
  }

  private register(body: string): object {
    const { redirect_uris: redirects } = JSON.parse(body) as { redirect_uris: string[] };
    const id = randomUUID();
    this.clients.set(id, redirects);
    return { client_id: id, redirect_uris: redirects, token_endpoint_auth_method: 'none' };
  }

  private authorize(query: URLSearchParams): string {
    const given = (name: string) => query.get(name) ?? '';
    const [client, redirectUri, resource] = [given('client_id'), given('redirect_uri'), given('resource')];
    if (!this.clients.get(client)?.includes(redirectUri)) throw new Refused('invalid_redirect_uri');
    if (resource === '') throw new Refused('invalid_target');
    if (given('code_challenge_method') !== 'S256') throw new Refused('invalid_request');
    const code = randomUUID();
    const scope = given('scope');
    this.codes.set(code, {
      client,
      redirectUri,
      resource,
      scope,
      challenge: given('code_challenge'),
      isRevoked: false,
    });
    const back = new URL(redirectUri);
    for (const [name, value] of [
      ['code', code],
      ['state', given('state')],
      ['iss', this.issuer],
    ] as const)
      back.searchParams.set(name, value);
    return back.href;
  }

  private async token(form: URLSearchParams): Promise<object> {
    this.asked.push(form);
    await this.hold;
    const given = (name: string) => form.get(name) ?? '';
    if (given('grant_type') === 'refresh_token')
      return this.refreshed(given('refresh_token'), given('client_id'), given('resource'));
    const code = this.codes.get(given('code'));
    if (!code || code.grant) {
      if (code?.grant) code.grant.isRevoked = true;
      throw new Refused('invalid_grant');
    }
    const challenge = createHash('sha256').update(given('code_verifier')).digest('base64url');
    if (challenge !== code.challenge || given('redirect_uri') !== code.redirectUri) throw new Refused('invalid_grant');
    if (given('client_id') !== code.client) throw new Refused('invalid_client', 401);
    if (given('resource') !== code.resource) throw new Refused('invalid_target');
    code.grant = { client: code.client, resource: code.resource, scope: code.scope, isRevoked: false };
    return this.issue(code.grant);
  }

  /** A refresh token is used once. Who brings it again may have stolen it: then all of the grant end. */
  private refreshed(token: string, client: string, resource: string): object {
    const known = this.refresh.get(token);
    if (!known || known.isRevoked || known.client !== client) throw new Refused('invalid_grant');
    if (resource !== known.resource) throw new Refused('invalid_target');
    if (known.isUsed) {
      this.revokeAll();
      throw new Refused('invalid_grant');
    }
    known.isUsed = true;
    return this.issue(known);
  }

  private issue(grant: Grant): object {
    const { tokenSeconds = 3_600, refreshes = true } = this.options;
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    const { client, resource, scope } = grant;
    this.access.set(access, { client, resource, scope, isRevoked: false, until: Date.now() + tokenSeconds * 1_000 });
    this.refresh.set(refresh, { client, resource, scope, isRevoked: false, isUsed: false });
    return {
      ...{ access_token: access, token_type: 'Bearer', expires_in: tokenSeconds, scope },
      ...(refreshes && { refresh_token: refresh }),
    };
  }
}
