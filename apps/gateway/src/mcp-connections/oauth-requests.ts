import {
  type AuthorizationServerMetadata,
  type OAuthClientInformation,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  OAuthError,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  auth,
  exchangeAuthorization,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import { type CheckedFetch, OutboundRefusal, createCheckedFetch, toMessage, toTarget } from '@rondo/platform';
import { z } from 'zod';
import { type EndpointRules, endpointDestination, isInternal } from '../webhooks/endpoint-destination';

/** No byte more is read of what an authorization server answers. */
const bodyBytes = 256 * 1024;
/** Of all requests of one step together. */
const stepMs = 12_000;
const longestReason = 300;

/** What is kept of an authorization server, and what it knows this deployment as. */
export interface KnownServer {
  readonly discovery: OAuthDiscoveryState;
  readonly client: StoredOAuthClientInformation;
  /** With which it was registered. */
  readonly redirectUrl: string;
}

/** A browser is at the authorization server. */
export interface BegunAuthorization extends KnownServer {
  readonly verifier: string;
  /** What was asked for. Absent: whatever the authorization server gives. */
  readonly scope?: string | undefined;
}

/** What is sealed of a connection. */
export interface StoredAuthorization extends KnownServer {
  readonly tokens: StoredOAuthTokens;
}

export interface AuthorizationOrder {
  /** Of the MCP server. */
  readonly url: string;
  readonly state: string;
  /** Empty: those that the server asks for. */
  readonly scopes: readonly string[];
  /** A client that the account has registered itself. */
  readonly given?: OAuthClientInformation | undefined;
  readonly before?: KnownServer | undefined;
}

/** The authorization server, or the MCP server, does not do what the specification wants. The message is for people. */
export class AuthorizationRefused extends Error {
  override readonly name = 'AuthorizationRefused';
}

/** Speaks to authorization servers, whose addresses come from MCP servers: none of what they say is trusted. */
export class OAuthRequests {
  readonly redirectUrl: string;
  private readonly clientUrl: string;

  /** `base` is where people reach the gateway, without a slash at its end. */
  constructor(
    private readonly base: string,
    private readonly rules: EndpointRules,
  ) {
    this.redirectUrl = `${base}/oauth/callback`;
    this.clientUrl = `${base}/oauth/client.json`;
  }

  /** The document that an authorization server reads at the address that is its client's id. */
  get clientDocument() {
    return { client_id: this.clientUrl, client_uri: this.base, ...this.clientMetadata };
  }

  /** Finds the authorization server of an MCP server, and registers there if need be. Resolves to where the person goes. */
  async begin(order: AuthorizationOrder): Promise<{ readonly location: URL; readonly begun: BegunAuthorization }> {
    const fetchFn = this.withinStep();
    const { discovery, scope } = await this.discover(order.url, fetchFn);
    const known = order.before?.redirectUrl === this.redirectUrl ? order.before.client : undefined;
    const client = order.given ? { ...order.given, issuer: discovery.authorizationServerMetadata.issuer } : known;
    const exchange = new Exchange(this.ownParts, { discovery, client, state: order.state });
    const wanted = order.scopes.length > 0 ? order.scopes.join(' ') : scope;
    await auth(exchange, { serverUrl: order.url, fetchFn, ...(wanted !== undefined && { scope: wanted }) });
    const { verifier, location } = exchange;
    if (!exchange.client || verifier === undefined || !location) throw new Error('the authorization was not begun');
    return {
      location,
      begun: { discovery, client: exchange.client, verifier, redirectUrl: this.redirectUrl, scope: wanted },
    };
  }

  /** Exchanges the code. Rejects where `iss` names another server than the one that was asked (RFC 9207). */
  async finish(
    { verifier, scope, ...known }: BegunAuthorization,
    { code, iss }: { readonly code: string; readonly iss?: string | undefined },
  ): Promise<StoredAuthorization> {
    const { discovery, client, redirectUrl } = known;
    const tokens = await exchangeAuthorization(discovery.authorizationServerUrl, {
      ...tokenRequest(known),
      ...{ authorizationCode: code, codeVerifier: verifier, redirectUri: redirectUrl, fetchFn: this.withinStep() },
      ...(iss !== undefined && { iss }),
    });
    return {
      ...known,
      tokens: {
        ...tokens,
        ...toScope(tokens.scope ?? scope),
        issuer: client.issuer ?? discovery.authorizationServerUrl,
      },
    };
  }

  /** Keeps the refresh token where none came with the new one. */
  async refresh(stored: StoredAuthorization): Promise<StoredAuthorization> {
    const { discovery, tokens } = stored;
    const { refresh_token: refreshToken } = tokens;
    if (refreshToken === undefined) throw new AuthorizationRefused('there is no refresh token');
    const fresh = await refreshAuthorization(discovery.authorizationServerUrl, {
      ...{ ...tokenRequest(stored), refreshToken, fetchFn: this.withinStep() },
    });
    return { ...stored, tokens: { ...tokens, ...fresh, scope: fresh.scope ?? tokens.scope } };
  }

  /** Asks for the end of the tokens (RFC 7009), where the server can. Rejects where it does not answer. */
  async revoke({ discovery, client, tokens }: StoredAuthorization): Promise<void> {
    const { revocation_endpoint: endpoint } = revocable.parse(discovery.authorizationServerMetadata ?? {});
    if (endpoint === undefined) return;
    const secret = 'client_secret' in client ? client.client_secret : undefined;
    const body = new URLSearchParams({
      token: tokens.refresh_token ?? tokens.access_token,
      client_id: client.client_id,
    });
    if (secret !== undefined) body.set('client_secret', secret);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await this.withinStep()(endpoint, { method: 'POST', headers, body });
    await response.body?.cancel();
  }

  private async discover(url: string, fetchFn: CheckedFetch) {
    const { resourceMetadataUrl, scope } = await this.probe(url, fetchFn);
    const found = await discoverOAuthServerInfo(url, {
      fetchFn,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    });
    const { authorizationServerMetadata: metadata, resourceMetadata } = found;
    if (!resourceMetadata)
      throw new AuthorizationRefused('The server does not say which authorization server it trusts.');
    if (!metadata) throw new AuthorizationRefused('Its authorization server does not describe itself.');
    this.requireUsable(metadata);
    const discovery = {
      ...found,
      authorizationServerMetadata: metadata,
      ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
    };
    return { discovery, scope };
  }

  /** What the server says where a request has no token. */
  private async probe(url: string, fetchFn: CheckedFetch) {
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const response = await fetchFn(url, { method: 'POST', headers, body });
    await response.body?.cancel();
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  }

  /** A person opens the page, and PKCE has to be there: the specification of MCP wants the client to refuse otherwise. */
  private requireUsable(metadata: AuthorizationServerMetadata): void {
    if (!metadata.code_challenge_methods_supported?.includes('S256'))
      throw new AuthorizationRefused('Its authorization server does not support PKCE with S256.');
    const page = new URL(metadata.authorization_endpoint);
    if (page.username || page.password || !this.isSafe(page))
      throw new AuthorizationRefused('The page of its authorization server has no address of the form https://….');
  }

  private isSafe(url: URL): boolean {
    return url.protocol === 'https:' || (url.protocol === 'http:' && isInternal(toTarget(url), this.rules));
  }

  private get ownParts() {
    const { redirectUrl, clientMetadata, clientUrl } = this;
    return { redirectUrl, clientMetadata, clientUrl };
  }

  private get clientMetadata() {
    return {
      client_name: 'Rondo',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    } satisfies OAuthClientMetadata;
  }

  /** `fetch` for one step: to public addresses and the operator's internal hosts alone, and with TLS unless there. */
  private withinStep(): CheckedFetch {
    const signal = AbortSignal.timeout(stepMs);
    const checked = createCheckedFetch({ admit: endpointDestination(this.rules), bodyBytes });
    return (given, { body, ...init } = {}) => {
      const url = new URL(given);
      if (!this.isSafe(url)) throw new OutboundRefusal(`${url.origin} is without TLS.`);
      const text = body instanceof URLSearchParams ? body.toString() : body; // it is sent as it is
      return checked(url, { ...init, ...(text !== undefined && { body: text }), signal });
    };
  }
}

/** An authorization server that names no scopes has granted those that were asked for (RFC 6749). */
const toScope = (scope: string | undefined) => scope !== undefined && { scope };

/** Not in the metadata of OpenID Connect, though servers say it there, too. */
const revocable = z.looseObject({ revocation_endpoint: z.url().optional() });

/** For people: one line, without what an authorization server may have hidden in it. */
export function toProblem(error: unknown): string {
  const text =
    error instanceof OAuthError
      ? `The authorization server refused it: ${error.code}.`
      : error instanceof OutboundRefusal
        ? 'It is at an address that may not be reached.'
        : toMessage(error);
  return text.replace(/[^\P{C} ]/gu, ' ').slice(0, longestReason);
}

/** What every request for tokens has: for which server they are, too (RFC 8707). */
function tokenRequest({ discovery, client }: KnownServer) {
  const { authorizationServerMetadata: metadata, resourceMetadata } = discovery;
  if (!resourceMetadata) throw new Error('the metadata of the resource is missing');
  return { clientInformation: client, resource: resourceMetadata.resource, ...(metadata && { metadata }) };
}

interface OwnParts {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientUrl: string;
}

/** One authorization, as the package wants it, until the person is sent to the authorization server. */
class Exchange implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  client: StoredOAuthClientInformation | undefined;
  verifier: string | undefined;
  location: URL | undefined;

  constructor(
    { redirectUrl, clientMetadata, clientUrl }: OwnParts,
    private readonly known: {
      readonly discovery: OAuthDiscoveryState;
      readonly client?: StoredOAuthClientInformation | undefined;
      readonly state: string;
    },
  ) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = clientMetadata;
    if (clientUrl.startsWith('https:')) this.clientMetadataUrl = clientUrl;
    this.client = known.client;
  }

  state(): string {
    return this.known.state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.client = client;
  }

  tokens(): undefined {
    return undefined;
  }

  /** The code is exchanged elsewhere. */
  saveTokens(): void {
    return undefined;
  }

  redirectToAuthorization(location: URL): void {
    this.location = location;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier ?? '';
  }

  discoveryState(): OAuthDiscoveryState {
    return this.known.discovery;
  }
}
