import { publicInternet } from '@rondo/platform';
import { AuthorizationServer, ProtectedResource } from '@rondo/platform/testing';
import { type BegunAuthorization, OAuthRequests, toProblem } from './oauth-requests';

let authorization: AuthorizationServer;
let server: ProtectedResource;
let others: { close(): Promise<void> }[];
beforeEach(async () => {
  authorization = await AuthorizationServer.open();
  server = await ProtectedResource.open(authorization);
  others = [server, authorization];
});
afterEach(() => Promise.all(others.map((one) => one.close())));

const requests = (base = 'http://localhost:3000', ...ports: number[]) =>
  new OAuthRequests(base, {
    resolve: () => Promise.resolve([]),
    isAllowed: publicInternet(),
    internalHosts: [authorization.port, server.port, ...ports].map((port) => `127.0.0.1:${port}`),
    resolveInternal: () => Promise.resolve([]),
  });
const begin = (oauth = requests()) => oauth.begin({ url: server.url, state: 'a-state', scopes: [] });

/** The person consents at the page, and comes back with what is in the address. */
async function consent(location: URL) {
  const response = await fetch(location, { redirect: 'manual' });
  const back = new URL(response.headers.get('location') ?? 'about:blank');
  return { code: back.searchParams.get('code') ?? '', iss: back.searchParams.get('iss') ?? '', back };
}
const readProblem = (asked: Promise<unknown>) => asked.then(() => 'none', toProblem);

async function otherServer(options: Parameters<typeof AuthorizationServer.open>[0] = {}) {
  const other = await AuthorizationServer.open(options);
  others.push(other);
  return other;
}

describe('an authorization', () => {
  it('brings tokens for the server that it names, which are refreshed by a token that is used once', async () => {
    const oauth = requests();
    const { location, begun } = await begin(oauth);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', resource: server.url, state: 'a-state' },
      ...{ scope: 'tickets', redirect_uri: 'http://localhost:3000/oauth/callback' },
    });

    const stored = await oauth.finish(begun, await consent(location));
    const fresh = await oauth.refresh(stored);

    expect(authorization.accepts(`Bearer ${fresh.tokens.access_token}`, server.url)).toBe(true);
    expect(authorization.accepts(`Bearer ${fresh.tokens.access_token}`, 'http://127.0.0.1:1/mcp')).toBe(false);
    expect(authorization.asked.map((form) => form.get('resource'))).toEqual([server.url, server.url]);
    expect(fresh.tokens.refresh_token).not.toBe(stored.tokens.refresh_token);
    expect(await readProblem(oauth.refresh(stored))).toContain('invalid_grant');
    await oauth.revoke(fresh);
    expect(authorization.accepts(`Bearer ${fresh.tokens.access_token}`, server.url)).toBe(false);
  });

  it('names the document about this deployment where the authorization server reads such documents', async () => {
    const reading = await otherServer({ metadata: { client_id_metadata_document_supported: true } });
    server.metadata = { authorization_servers: [reading.issuer] };

    const { begun, location } = await begin(requests('https://rondo.example/below', reading.port));

    expect(begun.client.client_id).toBe('https://rondo.example/below/oauth/client.json');
    expect(location.searchParams.get('redirect_uri')).toBe('https://rondo.example/below/oauth/callback');
  });

  it('uses the client that the account has registered, and the one of before', async () => {
    const oauth = requests();
    const given = { client_id: 'registered-by-hand', client_secret: 'a-secret' };
    const order = { url: server.url, state: 's', scopes: ['tickets', 'more'] };
    const { location } = await oauth.begin({ ...order, given });
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      client_id: given.client_id,
      scope: 'tickets more',
    });

    const { begun } = await begin(oauth);
    expect((await oauth.begin({ ...order, before: begun })).begun.client.client_id).toBe(begun.client.client_id);
  });

  it.each([
    ['verifier', (begun: BegunAuthorization) => ({ ...begun, verifier: 'x'.repeat(43) })],
    ['redirect address', (begun: BegunAuthorization) => ({ ...begun, redirectUrl: 'http://localhost:3000/other' })],
  ])('is refused with another %s', async (_, change) => {
    const oauth = requests();
    const { location, begun } = await begin(oauth);
    expect(await readProblem(oauth.finish(change(begun), await consent(location)))).toContain('invalid_grant');
  });
});

describe('attack: an authorization server or an MCP server lies', () => {
  it('about where its metadata are: no private address is asked', async () => {
    const oauth = requests();
    for (const issuer of ['http://169.254.169.254', 'http://127.0.0.1:1', 'http://[::1]:80', 'https://10.0.0.1']) {
      server.metadata = { authorization_servers: [issuer] };
      expect(await readProblem(begin(oauth))).toContain('may not be reached');
    }
  });

  it('about the page that people open: only https leads anywhere', async () => {
    for (const page of ['http://evil.example/authorize', 'https://user:pass@evil.example/', 'javascript:alert(1)']) {
      const lying = await otherServer({ metadata: { authorization_endpoint: page } });
      server.metadata = { authorization_servers: [lying.issuer] };
      expect(await readProblem(begin(requests(undefined, lying.port)))).not.toBe('none');
    }
  });

  it('about the endpoint for tokens: no code and no verifier is sent to a private address', async () => {
    const listener = await otherServer();
    const lying = await otherServer({ metadata: { token_endpoint: `${listener.issuer}/token` } });
    server.metadata = { authorization_servers: [lying.issuer] };
    const oauth = requests(undefined, lying.port);
    const { location, begun } = await begin(oauth);

    expect(await readProblem(oauth.finish(begun, await consent(location)))).toContain('may not be reached');
    expect(listener.asked).toEqual([]);
  });

  it('about who it is: a code of another authorization server is not exchanged', async () => {
    const oauth = requests();
    const { location, begun } = await begin(oauth);
    const { code } = await consent(location);

    for (const iss of ['https://evil.example', undefined])
      expect(await readProblem(oauth.finish(begun, { code, iss }))).not.toBe('none');
    expect(authorization.asked).toEqual([]);
  });

  it('about its name: metadata of another issuer are not believed', async () => {
    const lying = await otherServer({ metadata: { issuer: authorization.issuer } });
    server.metadata = { authorization_servers: [lying.issuer] };
    expect(await readProblem(begin(requests(undefined, lying.port)))).not.toBe('none');
  });

  it('about what a token is for: a server gets no token for another', async () => {
    server.metadata = { resource: 'https://bank.example/mcp' };
    expect(await readProblem(begin())).toContain('does not match');
  });

  it('about its abilities: without PKCE by S256 nothing is begun', async () => {
    for (const methods of [undefined, ['plain']]) {
      const weak = await otherServer({ metadata: { code_challenge_methods_supported: methods } });
      server.metadata = { authorization_servers: [weak.issuer] };
      expect(await readProblem(begin(requests(undefined, weak.port)))).toContain('PKCE');
    }
  });
});
