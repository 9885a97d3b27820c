import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { JWTPayload } from 'jose';
import { nextEvent } from '../../testing/next-event';
import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestIssuer } from '../../testing/test-issuer';

let issuer: TestIssuer;
let gateway: RunningGateway;
let account: string;
let accountKey: string;
beforeAll(async () => {
  issuer = await TestIssuer.start();
  gateway = await RunningGateway.start({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: ['rondo'] });
  accountKey = await gateway.toKey('an account');
  account = (await gateway.as(accountKey).get('/v1/session').expect(200)).body.account_id;
});
afterAll(async () => {
  await gateway.close();
  await issuer.down();
});

const nowS = () => Math.floor(Date.now() / 1000);
const readToken = (role: unknown, claims: JWTPayload = {}) =>
  issuer.token({ rondo_account: account, rondo_role: role, ...claims });

async function refusal(token: string): Promise<string> {
  const { body, headers } = await gateway.as(token).get('/v1/session').expect(401);
  expect(body.code).toBe('unauthorized');
  expect(headers['www-authenticate']).toMatch(/^Bearer/);
  return body.detail as string;
}

describe('a token of the outside issuer', () => {
  it.each([
    ['owner', 'admin', 201, 200],
    ['member', 'write', 201, 403],
    ['viewer', 'read', 403, 403],
    [['unknown', 'viewer', 'member'], 'write', 201, 403],
  ])('of a %s is accepted as %s', async (role, scope, writing, administering) => {
    const user = gateway.as(await readToken(role));
    const { body } = await user.get('/v1/session').expect(200);
    expect(body).toMatchObject({ account_id: account, scopes: [scope], session_id: null });
    expect(body.caller_id).toMatch(/^usr_[0-9a-f]{40}$/);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now());

    await user.get('/v1/runs').expect(200);
    await user.post('/v1/threads').send({}).expect(writing);
    await user.get('/v1/api-keys').expect(administering);
  });

  it('stands for the same user each time, and for another one with another subject', async () => {
    const readId = async (sub: string) =>
      (await gateway.as(await readToken('viewer', { sub, jti: `${Math.random()}` })).get('/v1/session')).body.caller_id;
    expect(await readId('grace')).toBe(await readId('grace'));
    expect(await readId('grace')).not.toBe(await readId('ada'));
  });

  it('sees its own account only', async () => {
    const run = await gateway.createRun();
    await gateway
      .as(await readToken('owner'))
      .get(`/v1/runs/${run.id}`)
      .expect(404);
  });

  it('opens sockets, and sessions that end with it', async () => {
    const exp = nowS() + 120;
    const token = await readToken('member', { exp });
    const { body, headers } = await gateway.as(token).post('/v1/session').send({}).expect(201);
    expect(body).toMatchObject({ scopes: ['write'], expires_at: new Date((exp + 60) * 1000).toISOString() });
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    const seen = await gateway.anonymous.get('/v1/session').set('Cookie', cookie).expect(200);
    expect(seen.body.session_id).toBe(body.session_id);
    await nextEvent(gateway.socket(token), 'connect');
  });

  it('is in the audit log as the user that it stands for', async () => {
    const owner = gateway.as(await readToken('owner'));
    await owner
      .post('/v1/api-keys')
      .send({ name: 'made by a user', scopes: ['read'] })
      .expect(201);
    const { body: me } = await owner.get('/v1/session').expect(200);
    const { body } = await owner.get('/v1/audit?action=api_key.create').expect(200);
    expect(body.data[0].caller_id).toBe(me.caller_id);
  });

  it('of an owner may revoke the last admin key of the account', async () => {
    const { body: made } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Users only' }).expect(201);
    const { body: me } = await gateway.as(made.api_key).get('/v1/session').expect(200);
    const owner = gateway.as(await readToken('owner', { rondo_account: made.account.id }));
    await owner.delete(`/v1/api-keys/${me.caller_id}`).expect(204);
    await gateway.as(made.api_key).get('/v1/session').expect(401);
  });

  it('has its sockets closed when its account is removed', async () => {
    const { body: made } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Gone soon' }).expect(201);
    const socket = gateway.socket(await readToken('member', { rondo_account: made.account.id }));
    await nextEvent(socket, 'connect');
    const cut = nextEvent(socket, 'disconnect');
    await gateway.as().delete(`/v1/admin/accounts/${made.account.id}`).expect(202);
    expect(await cut).toContain('io server disconnect');
  });

  it('may be a minute late, for clocks that differ', async () => {
    const late = gateway.as(await readToken('viewer', { exp: nowS() - 30, nbf: nowS() + 30 }));
    await late.get('/v1/runs').expect(200);
    await late.get('/v1/runs').expect(200); // from the cache
  });

  it('is accepted when the issuer signs with a new key, of another kind too; the former one counts no more', async () => {
    const rotating = await TestIssuer.start();
    const settings = { OIDC_ISSUER: rotating.url, OIDC_AUDIENCE: ['rondo'] };
    const apart = await RunningGateway.start({ ...settings, DATABASE_URL: gateway.parts.config.DATABASE_URL });
    const claims = { rondo_account: account, rondo_role: 'viewer' };
    const replaced = rotating.current;
    const former = await rotating.token({ ...claims, jti: 'former' });
    await apart.as(former).get('/v1/runs').expect(200);
    await rotating.rotate('ES256');
    const next = await rotating.token(claims);
    while ((await apart.as(next).get('/v1/runs')).status !== 200) await delay(100); // the keys are fetched again after five seconds

    const { body } = await apart
      .as(await rotating.token(claims, replaced))
      .get('/v1/runs')
      .expect(401);
    expect(body.detail).toBe('The token is not accepted. It is signed by a key that the issuer does not have.');
    const asked = rotating.asked.length;
    for (const jti of ['a', 'b', 'c'])
      await apart
        .as(await rotating.token({ ...claims, jti }))
        .get('/v1/runs')
        .expect(200);
    expect(rotating.asked).toHaveLength(asked); // the keys are kept
    await apart.close();
    await rotating.down();
  });
});

describe('attack: tokens of an outside issuer', () => {
  it('of another audience, issuer or time, or without an end or a subject', async () => {
    expect(await refusal(await readToken('owner', { aud: 'another service' }))).toMatch(/claim aud/);
    expect(await refusal(await readToken('owner', { iss: 'https://evil.example' }))).toMatch(/claim iss/);
    expect(await refusal(await readToken('owner', { exp: nowS() - 120 }))).toMatch(/expired/);
    expect(await refusal(await readToken('owner', { nbf: nowS() + 600 }))).toMatch(/claim nbf/);
    for (const claim of ['exp', 'sub', 'aud', 'iss'])
      expect(await refusal(await readToken('owner', { [claim]: undefined }))).toMatch(`claim ${claim}`);
  });

  it('that name an empty subject, or end at no date', async () => {
    expect(await refusal(await readToken('owner', { sub: '' }))).toMatch(/sub names no user/);
    for (const exp of [1e15, 1e300]) expect(await refusal(await readToken('owner', { exp }))).toMatch(/exp is no date/);
  });

  it('that name no role or account, or one that there is not', async () => {
    expect(await refusal(await readToken('admin'))).toMatch(/rondo_role/);
    expect(await refusal(await readToken({ owner: true }))).toMatch(/rondo_role/);
    expect(await refusal(await readToken('owner', { rondo_account: [account] }))).toMatch(/rondo_account/);
    expect(await refusal(await readToken('owner', { rondo_account: 'acc_none' }))).toMatch(/no account acc_none/);
  });

  it('that name the account of the operator, in any role', async () => {
    for (const role of ['owner', 'member', 'viewer'])
      expect(await refusal(await readToken(role, { rondo_account: 'acc_admin' }))).toMatch(/account of the operator/);
  });

  it('without a signature, or signed with the public key as if it were a secret', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = {
      iss: issuer.url,
      aud: 'rondo',
      sub: 'eve',
      exp: nowS() + 300,
      rondo_account: account,
      rondo_role: 'owner',
    };
    const { kid } = issuer.current;
    for (const alg of ['none', 'None', 'nOnE'])
      expect(await refusal(`${part({ alg })}.${part(claims)}.`)).toMatch(/not accepted/);

    const content = `${part({ alg: 'HS256', kid })}.${part(claims)}`;
    for (const secret of [await issuer.publicPem(), JSON.stringify(issuer.current.jwk)]) {
      const signature = createHmac('sha256', secret).update(content).digest('base64url');
      expect(await refusal(`${content}.${signature}`)).toMatch(/algorithm that is not accepted/);
    }
  });

  it('that were changed, are signed by a key of the attacker, bring their own key, or are no tokens', async () => {
    const [header = '', , signature = ''] = (await readToken('viewer')).split('.');
    const [, raised = ''] = (await readToken('owner')).split('.');
    expect(await refusal(`${header}.${raised}.${signature}`)).toMatch(/signature is wrong/);

    const evil = await TestIssuer.start();
    const foreign = { iss: issuer.url, rondo_account: account, rondo_role: 'owner' };
    expect(await refusal(await evil.token(foreign))).toMatch(/key that the issuer does not have/);
    expect(await refusal(await evil.token(foreign, { ...evil.current, kid: issuer.current.kid }))).toMatch(
      /signature|key/,
    );
    await evil.down();
    expect(await refusal('eyJ.x.y')).toMatch(/cannot be read/);
    expect(await refusal(`eyJ${'A'.repeat(12_000)}.x.y`)).toMatch(/not accepted|cannot be read/);
  });
});

it('a token names the account of the operator where that is configured', async () => {
  const settings = { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: ['rondo'], OIDC_MAY_OPERATE: true };
  const apart = await RunningGateway.start({ ...settings, DATABASE_URL: gateway.parts.config.DATABASE_URL });
  const listed = async (role: string) => {
    const { status } = await apart.as(await readToken(role, { rondo_account: 'acc_admin' })).get('/v1/admin/accounts');
    return status;
  };
  expect([await listed('owner'), await listed('member')]).toEqual([200, 403]);
  await apart.close();
});

describe('an issuer that is down', () => {
  it('refuses tokens with 503 and keys with nothing, and is asked again when it is back', async () => {
    const another = await TestIssuer.start();
    await another.down();
    const settings = { OIDC_ISSUER: another.url, OIDC_AUDIENCE: ['rondo'] };
    const apart = await RunningGateway.start({ ...settings, DATABASE_URL: gateway.parts.config.DATABASE_URL });
    const token = await another.token({ rondo_account: account, rondo_role: 'viewer' });

    const { body, headers } = await apart.as(token).get('/v1/runs').expect(503);
    expect(body).toMatchObject({
      code: 'service_unavailable',
      detail: expect.stringMatching(/issuer.*API keys are accepted/),
    });
    expect(headers['retry-after']).toBe('5');
    await apart.as(adminKey).get('/v1/runs').expect(200);
    await apart.as(accountKey).get('/v1/runs').expect(200);

    await another.up();
    const ask = async () => (await apart.as(token).get('/v1/runs')).status;
    let status = await ask();
    for (; status === 503; status = await ask()) await delay(100);
    expect(status).toBe(200);
    await another.down();
    await apart
      .as(await another.token({ rondo_account: account, rondo_role: 'viewer', jti: 'b' }))
      .get('/v1/runs')
      .expect(200);
    await apart.close();
  });

  it('a gateway without one takes a token for an unknown key', async () => {
    const without = await RunningGateway.start({ DATABASE_URL: gateway.parts.config.DATABASE_URL });
    await without
      .as(await readToken('owner'))
      .get('/v1/runs')
      .expect(401);
    await without.close();
  });
});
