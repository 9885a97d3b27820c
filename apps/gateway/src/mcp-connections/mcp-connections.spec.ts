import { setTimeout as delay } from 'node:timers/promises';
import { type McpConnection, accountId, approvalId, mcpTokenPurpose, toCallId } from '@rondo/contract';
import { type McpTokenQuestion } from '@rondo/messaging';
import { SecretBox } from '@rondo/platform';
import { AuthorizationServer, ProtectedResource } from '@rondo/platform/testing';
import { ConnectingBrowser } from '../testing/connecting-browser';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const secretsKey = Buffer.alloc(32, 7).toString('base64');
type Begun = McpConnection & { authorization_url: string };

let authorization: AuthorizationServer;
let server: ProtectedResource;
let gateway: RunningGateway;
let worker: TestWorker;
let key: string;
let account: string;
beforeAll(async () => {
  authorization = await AuthorizationServer.open();
  server = await ProtectedResource.open(authorization);
  gateway = await RunningGateway.start({
    SECRETS_KEY: secretsKey,
    SANDBOX_INTERNAL_HOSTS: [`127.0.0.1:${authorization.port}`, `127.0.0.1:${server.port}`],
  });
  worker = await TestWorker.start(gateway.database);
});
beforeEach(async () => {
  key = await gateway.toKey('Tickets & Co');
  account = ((await gateway.as(key).get('/v1/session').expect(200)).body as { account_id: string }).account_id;
});
afterAll(async () => {
  await worker.close();
  await gateway.close();
  await server.close();
  await authorization.close();
});

const begin = async (more: object = {}): Promise<Begun> =>
  (
    await gateway
      .as(key)
      .post('/v1/mcp-connections')
      .send({ url: server.url, ...more })
      .expect(201)
  ).body as Begun;
const read = async ({ id }: { id: string }): Promise<McpConnection> =>
  (await gateway.as(key).get(`/v1/mcp-connections/${id}`).expect(200)).body as McpConnection;
const connected = async (more: object = {}): Promise<Begun> => {
  const begun = await begin(more);
  expect(await new ConnectingBrowser(gateway).connect(begun.authorization_url)).toContain('is connected');
  return begun;
};

/** What an executor asks for a run of the account that names the server, or for no run. */
const ask = (more: Partial<McpTokenQuestion> = {}) =>
  gateway.parts.mcpTokens.answer({
    ...{ account_id: accountId.parse(account), run_id: null, call_id: null, url: server.url, owner: 'account' },
    ...more,
  });
const open = (sealed: string) =>
  new SecretBox(secretsKey, 'mcp').open(sealed, mcpTokenPurpose(accountId.parse(account), server.url));
async function token(more: Partial<McpTokenQuestion> = {}): Promise<{ text: string; version: number }> {
  const answer = await ask(more);
  if (answer.how !== 'token') throw new Error(`no token: ${JSON.stringify(answer)}`);
  return { text: open(answer.sealed), version: answer.version };
}
const createRunFor = async (owner: 'account' | 'user', more: object = {}) =>
  (
    await gateway.createRun(
      {
        input: 'Go.',
        mcp_servers: [{ name: 'tickets', transport: 'streamable_http', url: server.url, connection: owner }],
        ...more,
      },
      key,
    )
  ).id;

describe('an MCP server that wants a token', () => {
  it('is connected by a person in their browser, and its tokens are nowhere to be read', async () => {
    const begun = await begin();
    expect(begun).toMatchObject({ status: 'pending', url: server.url, user: null, connected_at: null });
    const browser = new ConnectingBrowser(gateway);
    expect(await browser.open(begun.authorization_url)).toContain('Tickets &amp; Co');

    expect(await browser.connect(begun.authorization_url)).toContain('is connected');

    const connection = await read(begun);
    expect(connection).toMatchObject({
      ...{ status: 'connected', problem: null, issuer: authorization.issuer, scopes: ['tickets'] },
      connected_by: expect.stringMatching(/^key_/),
    });
    const { text } = await token();
    expect(authorization.accepts(`Bearer ${text}`, server.url)).toBe(true);
    const { sql } = gateway.ownerDatabase;
    const rows = await sql.query('select * from mcp_connections', []);
    const audit = await sql.query('select * from audit_entries', []);
    expect(JSON.stringify([rows, audit, connection, await ask()])).not.toMatch(/access-|refresh-/);
    expect(audit).toEqual(expect.arrayContaining([expect.objectContaining({ action: 'mcp_connection.begin' })]));
  });

  it('has a connection for each person, beside that of the account', async () => {
    const [ofAccount, ofAda] = [await connected(), await connected({ user: 'ada' })];
    const { body } = await gateway.as(key).get(`/v1/mcp-connections?user=ada`).expect(200);
    expect((body.data as McpConnection[]).map(({ id }) => id)).toEqual([ofAda.id]);
    const askToken = async (owner: 'account' | 'user', more: object = {}) =>
      (await token({ run_id: await createRunFor(owner, more), owner })).text;

    const tokens = [
      await askToken('account'),
      await askToken('account', { user: 'ada' }),
      await askToken('user', { user: 'ada' }),
    ];
    expect(tokens[0]).toBe(tokens[1]);
    expect(tokens[2]).not.toBe(tokens[0]);
    expect(await ask({ run_id: await createRunFor('user', { user: 'bob' }), owner: 'user' })).toEqual({
      how: 'missing',
      page: null,
    });
    expect(await ask({ run_id: await createRunFor('user'), owner: 'user' })).toMatchObject({ how: 'refused' });
    expect(ofAccount.id).not.toBe(ofAda.id);
  });

  it('is disconnected at once, and the authorization server is told', async () => {
    const { id } = await connected();
    const { text } = await token();
    await gateway.as(key).delete(`/v1/mcp-connections/${id}`).expect(204);

    expect(await ask()).toEqual({ how: 'missing', page: null });
    await gateway.as(key).get(`/v1/mcp-connections/${id}`).expect(404);
    const until = performance.now() + 5_000;
    while (authorization.accepts(`Bearer ${text}`, server.url) && performance.now() < until) await delay(5);
    expect(authorization.accepts(`Bearer ${text}`, server.url)).toBe(false);
  });

  it('is connected no more when the person is erased', async () => {
    const { id } = await connected({ user: 'ada' });
    await gateway.createRun({ input: 'Go.', user: 'ada' }, key);
    await gateway.as(key).delete('/v1/users/ada');
    await gateway.as(key).get(`/v1/mcp-connections/${id}`).expect(404);
  });

  it('is refreshed once for all that ask at a time, and a rotated token is not lost', async () => {
    await connected();
    const first = await token();
    authorization.expireTokens();
    const before = authorization.refreshes;
    await gateway.ownerDatabase.sql.query(`update mcp_connections set refreshed_at = now() - interval '1 minute'`);

    const tokens = await Promise.all(Array.from({ length: 8 }, () => token({ refused: first.version })));

    expect(new Set(tokens.map(({ text }) => text)).size).toBe(1);
    expect(authorization.refreshes - before).toBe(1);
    expect(authorization.accepts(`Bearer ${tokens[0]?.text}`, server.url)).toBe(true);
    expect(await ask({ refused: first.version + 1 })).toMatchObject({ how: 'refused' });
  });

  it('is refreshed before its time is over, and by another gateway where the first one died', async () => {
    const { id } = await connected();
    const { sql } = gateway.ownerDatabase;
    const before = await token();
    await sql.query(
      `update mcp_connections set expires_at = now() - interval '1 second', refreshing_until = now() + interval '300 milliseconds'
      where id = $1`,
      [id],
    );

    const after = await token();

    expect(after.version).toBe(before.version + 1);
    expect(after.text).not.toBe(before.text);
  });

  it('has to be connected again where the authorization server takes the refresh token back', async () => {
    const { id } = await connected();
    const { version } = await token();
    authorization.revokeAll();
    await gateway.ownerDatabase.sql.query(`update mcp_connections set refreshed_at = now() - interval '1 minute'`);

    expect(await ask({ refused: version })).toEqual({ how: 'missing', page: null });
    expect(await read({ id })).toMatchObject({ status: 'expired', problem: expect.stringContaining('invalid_grant') });
    await connected();
    expect(await read({ id })).toMatchObject({ status: 'connected', problem: null });
  });

  it('leads a call to a page on which it is connected', async () => {
    const run_id = await createRunFor('account');
    const [approval] = await (await worker.claim(run_id)).requestApprovals();
    const call_id = toCallId(approvalId.parse(approval));
    expect(await ask({ run_id, call_id: toCallId(approvalId.parse('apr_none')) })).toEqual({
      how: 'missing',
      page: null,
    });
    const answer = await ask({ run_id, call_id });
    if (answer.how !== 'missing' || answer.page === null) throw new Error('there is no page');
    expect(await new ConnectingBrowser(gateway).connect(answer.page)).toContain('is connected');
    expect((await token({ run_id })).text).toMatch(/^access-/);
  });

  it('is allowed more where it wants more scopes for a call, and goes on with what it has until then', async () => {
    const { id } = await connected();
    const { version, text } = await token();
    const run_id = await createRunFor('account');
    const [approval] = await (await worker.claim(run_id)).requestApprovals();
    const asks = { run_id, call_id: toCallId(approvalId.parse(approval)), refused: version };

    expect(await ask({ ...asks, scopes: ['tickets'] })).toMatchObject({ how: 'refused' }); // it has it
    const answer = await ask({ ...asks, scopes: ['tickets.write'] });
    if (answer.how !== 'missing' || answer.page === null) throw new Error('there is no page');
    expect((await token()).text).toBe(text);
    const browser = new ConnectingBrowser(gateway);
    expect(await browser.open(answer.page)).toContain('tickets tickets.write');
    expect(await browser.connect(answer.page)).toContain('is connected');

    expect(await read({ id })).toMatchObject({ status: 'connected', scopes: ['tickets', 'tickets.write'] });
    expect((await token(asks)).text).not.toBe(text);
  });

  it('says who this deployment is, for authorization servers', async () => {
    const { body } = await gateway.anonymous.get('/oauth/client.json').expect(200);
    expect(body).toMatchObject({
      client_id: expect.stringMatching(/\/oauth\/client\.json$/),
      redirect_uris: [expect.stringMatching(/\/oauth\/callback$/)],
      token_endpoint_auth_method: 'none',
    });
  });

  it('cannot be connected without SECRETS_KEY, which the refusal names', async () => {
    const without = await RunningGateway.start();
    const { body } = await without.as().post('/v1/mcp-connections').send({ url: server.url }).expect(422);
    expect(body.errors).toEqual([{ field: 'url', message: expect.stringContaining('SECRETS_KEY') }]);
    await without.close();
  });
});

describe('attack: a person is led into the connection of another', () => {
  const theirs = () => new ConnectingBrowser(gateway);

  it('by an address with a code: only the browser that went on can come back, and once', async () => {
    const [attacker, begun] = [theirs(), await begin()];
    const back = await attacker.comeBack(await attacker.goOn(begun.authorization_url));

    expect(await theirs().open(back)).toContain('Not connected');
    expect(await read(begun)).toMatchObject({ status: 'pending' });
    expect(await attacker.open(back)).toContain('is connected');
    expect(await attacker.open(back)).toContain('Not connected');
  });

  it('by a page of another site that goes on in their place', async () => {
    const { authorization_url: page } = await begin();
    const { pathname, search } = new URL(page);
    for (const site of ['cross-site', 'same-site'])
      await gateway.anonymous.post(`${pathname}${search}`).set('Sec-Fetch-Site', site).expect(403);
    await gateway.anonymous.post(`${pathname}${search}`).set('Origin', 'https://evil.example').expect(403);
  });

  it('by a page that another browser has begun while it was signed in', async () => {
    const signedIn = await gateway.as(key).post('/v1/session').send({}).expect(201);
    const cookie = signedIn.get('Set-Cookie')?.[0]?.split(';')[0] ?? '';
    const own = { cookie, 'sec-fetch-site': 'same-origin' };
    const { body } = await gateway.anonymous.post('/v1/mcp-connections').set(own).send({ url: server.url }).expect(201);
    const { pathname, search } = new URL((body as Begun).authorization_url);

    await gateway.anonymous.get(`${pathname}${search}`).expect(403);
    await gateway.anonymous.get(`${pathname}${search}`).set(own).expect(200);
  });

  it('by an address that is guessed or over, or that leads elsewhere', async () => {
    await gateway.anonymous.get('/oauth/connect?link=mcl_guessed').expect(404);
    await gateway.anonymous.get('/oauth/callback?code=x&state=y').expect(200, /Not connected/);
    const { id, authorization_url: page } = await begin();
    const { pathname, search } = new URL(page);
    await gateway.anonymous.get(`${pathname}${search}&return_to=https://evil.example`).expect(422);
    await gateway.ownerDatabase.sql.query(
      'update mcp_connection_links set expires_at = now() where connection_id = $1',
      [id],
    );
    await gateway.anonymous.get(`${pathname}${search}`).expect(404);
  });

  it('by a name that becomes a part of the page', async () => {
    key = await gateway.toKey('<script>alert(1)</script>');
    const { authorization_url: page } = await begin({ user: '"><img src=x>' });
    const { pathname, search } = new URL(page);
    const { text, headers } = await gateway.anonymous.get(`${pathname}${search}`).expect(200);
    expect(text).not.toMatch(/<script|<img/);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });
});
