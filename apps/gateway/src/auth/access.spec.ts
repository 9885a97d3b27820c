import { setTimeout as delay } from 'node:timers/promises';
import type { ApiKeyId } from '@rondo/contract';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { nextEvent } from '../testing/next-event';

const gateway = RunningGateway.forSuite({ METRICS_TOKEN: 'token-of-the-metrics' });

const newKey = async (scopes: string[], as = adminKey) =>
  (await gateway.as(as).post('/v1/api-keys').send({ name: 'a key', scopes }).expect(201)).body as {
    id: string;
    key: string;
  };

describe('API keys', () => {
  it('do what their scopes say', async () => {
    const { key: reader } = await newKey(['read']);
    const { key: writer } = await newKey(['write']);

    await gateway.as(reader).get('/v1/runs').expect(200);
    expect((await gateway.as(reader).post('/v1/runs').send({ input: 'Go.' }).expect(403)).body.code).toBe('forbidden');
    await gateway.as(writer).post('/v1/runs').send({ input: 'Go.' }).expect(202);
    await gateway.as(writer).get('/v1/runs').expect(200);
    await gateway
      .as(writer)
      .post('/v1/api-keys')
      .send({ name: 'more', scopes: ['admin'] })
      .expect(403);
    await gateway.as(reader).delete('/v1/api-keys/key_1').expect(403);
  });

  it('are listed to admins of their account, newest first and without their secrets', async () => {
    const { body: account } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Keys' }).expect(201);
    const admin = account.api_key as string;
    const old = await newKey(['read'], admin);
    const reader = await newKey(['read'], admin);
    await gateway.as(admin).delete(`/v1/api-keys/${old.id}`).expect(204);

    const { body: first } = await gateway.as(admin).get('/v1/api-keys?limit=2').expect(200);
    const { body: rest } = await gateway.as(admin).get(`/v1/api-keys?after=${first.next_cursor}`).expect(200);

    const listed = { id: reader.id, name: 'a key', scopes: ['read'], hint: reader.key.slice(-4), revoked_at: null };
    const times = { created_at: expect.any(String), expires_at: null, last_used_at: null };
    expect(first.data[0]).toEqual({ ...listed, ...times });
    expect(first.data[1]).toMatchObject({ id: old.id, revoked_at: expect.any(String) });
    expect(rest).toMatchObject({ data: [{ scopes: ['admin'], hint: admin.slice(-4) }], has_more: false });
    expect(JSON.stringify([first, rest])).not.toContain(reader.key);
    await gateway.as(reader.key).get('/v1/api-keys').expect(403);
  });

  it('say when they were used last, which is written for all keys together', async () => {
    const admin = await gateway.toKey('used');
    const { id } = await newKey(['read'], admin);
    const lastUses = async () => {
      const { body } = await gateway.as(admin).get('/v1/api-keys').expect(200);
      const keys: { id: ApiKeyId; last_used_at: string | null }[] = body.data;
      return keys.map(({ id: key, last_used_at: at }) => [key, at] as const);
    };
    expect(await lastUses()).toEqual([
      [id, null],
      [expect.any(String), null],
    ]);

    await gateway.parts.keyUses.write();
    const [unused, used] = await lastUses();

    expect(unused).toEqual([id, null]);
    expect(Math.abs(Date.now() - Date.parse(String(used?.[1])))).toBeLessThan(60_000);
    await gateway.parts.accounts.noteUses(used ? [used[0]] : []);
    expect(await lastUses()).toEqual([unused, used]);
  });

  it('that expire work until then, with their sockets and sessions', async () => {
    const expires_at = new Date(Date.now() + 3_000).toISOString();
    const { body: made } = await gateway
      .as()
      .post('/v1/api-keys')
      .send({ name: 'a key', scopes: ['admin'], expires_at })
      .expect(201);
    expect(made).toMatchObject({ expires_at });
    await gateway.as(made.key).get('/v1/runs').expect(200);
    const { body: link } = await gateway.as(made.key).post('/v1/session/links').send({}).expect(201);
    const { headers } = await gateway.anonymous.get(link.path).expect(303);
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    const withCookie = () => gateway.anonymous.get('/v1/runs').set({ cookie, 'Sec-Fetch-Site': 'same-origin' });
    expect((await withCookie()).status).toBe(200);

    const isRefused = async () => (await gateway.as(made.key).get('/v1/runs')).status === 401;
    while (!(await isRefused())) {
      expect(Date.now()).toBeLessThan(Date.parse(expires_at) + 5_000);
      await delay(20);
    }

    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
    expect((await withCookie()).status).toBe(401);
    expect(await gateway.parts.accounts.readRevoked([made.id])).toEqual([made.id]);
    const past = { name: 'a key', scopes: ['read'], expires_at };
    const { body: refused } = await gateway.as().post('/v1/api-keys').send(past).expect(422);
    expect(refused.errors).toEqual([{ field: 'expires_at', message: 'must be in the future' }]);
  });

  it('may say in any time zone when they end', async () => {
    const ending = { name: 'a key', scopes: ['read'], expires_at: '2099-01-01T02:00:00.000000+02:00' };
    const { body: made } = await gateway.as().post('/v1/api-keys').send(ending).expect(201);
    expect(made).toMatchObject({ expires_at: '2099-01-01T00:00:00.000Z' });
  });

  it('have known scopes only', async () => {
    const { body } = await gateway
      .as()
      .post('/v1/api-keys')
      .send({ name: 'a key', scopes: ['fly'] })
      .expect(422);
    expect(body.errors[0].field).toBe('scopes.0');
  });

  it('that are the last of their admins stay, and the answer says what to do first', async () => {
    const { body: account } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Alone' }).expect(201);
    const alone = gateway.as(account.api_key);
    const { body: me } = await alone.get('/v1/session').expect(200);
    const { body: refused } = await alone.delete(`/v1/api-keys/${me.caller_id}`).expect(409);
    expect(refused).toMatchObject({ code: 'last_admin_key', detail: expect.stringContaining('Create another one') });

    const next = await newKey(['admin'], account.api_key);
    await gateway.as(next.key).delete(`/v1/api-keys/${me.caller_id}`).expect(204);
    await alone.get('/v1/session').expect(401);
  });

  it('are invalid at once where they are revoked, and their sockets and streams close', async () => {
    const { id, key } = await newKey(['write']);
    const run = await gateway.createRun({ input: 'Go.' }, key);
    const socket = gateway.socket(key);
    await nextEvent(socket, 'connect');
    const stream = await fetch(`${gateway.url}/v1/runs/${run.id}/stream`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const cut = nextEvent(socket, 'disconnect');

    await gateway.as().delete(`/v1/api-keys/${id}`).expect(204);
    await gateway.as(key).get('/v1/runs').expect(401);
    expect(await cut).toContain('io server disconnect');
    expect(await stream.text()).not.toContain('run.completed');
    expect(gateway.parts.connections.count).toBe(0);
  });
});

describe('attack: tenants', () => {
  it('a wait that was begun before its key was revoked', async () => {
    const { id, key } = await newKey(['write']);
    const run = await gateway.createRun({ input: 'Go.' }, key);
    const waiting = fetch(`${gateway.url}/v1/runs/${run.id}/wait?timeout_s=60`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(15_000),
    });
    while (gateway.parts.subscriptions.subscriberCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));

    await gateway.as().delete(`/v1/api-keys/${id}`).expect(204);
    const answer = await waiting;
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: 'unauthorized' });
    expect(gateway.parts.connections.count).toBe(0);
  });
});

describe('accounts', () => {
  it('are created by the operator, with an admin key of their own', async () => {
    const { body } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Acme' }).expect(201);

    expect(body).toEqual({
      account: { id: expect.stringMatching(/^acc_/), name: 'Acme', created_at: expect.any(String) },
      api_key: expect.any(String),
    });
    await newKey(['read'], body.api_key);
    await gateway.as(body.api_key).get('/v1/runs').expect(200);
  });

  it.each(['/V1/admin/accounts', '/v1/Admin/accounts/', '/v1/admin/accounts/'])(
    'cannot be made without a key, however one writes %s',
    async (path) => {
      await gateway.anonymous.post(path).send({ name: 'Acme' }).expect(401);
    },
  );

  it('cannot be created by the admin of another account, who cannot open the queue board either', async () => {
    const stranger = await gateway.toKey('stranger');

    await gateway.as(stranger).post('/v1/admin/accounts').send({ name: 'Acme' }).expect(403);
    await gateway.as(stranger).get('/admin/queues').expect(403);
  });
});

describe('the rate limit', () => {
  it('applies per key, sends Retry-After, and excludes health', async () => {
    const strict = await RunningGateway.start({ RATE_LIMIT_PER_SECOND: 1 });
    try {
      const stranger = await strict.toKey('stranger');
      const answers = [];
      for (let times = 0; times < 4; times += 1) answers.push(await strict.as().get('/v1/runs'));

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
      expect(answers[3]?.body.code).toBe('rate_limited');
      expect(answers[3]?.headers['retry-after']).toBe('1');
      await strict.as(stranger).get('/v1/runs').expect(200);
      for (let times = 0; times < 4; times += 1) await strict.anonymous.get('/health/live').expect(200);
    } finally {
      await strict.close();
    }
  });
});

describe('operations', () => {
  it('serve health without a key, and metrics with the token', async () => {
    await gateway.anonymous.get('/health/live').expect(200);
    await gateway.anonymous.get('/health/ready').expect(200);
    await gateway.anonymous.get('/metrics').expect(401);
    const { text } = await gateway.as('token-of-the-metrics').get('/metrics').expect(200);
    expect(text).toContain('rondo_gateway_watchers 0');
  });

  it('serve nothing of the queue board without an operator key', async () => {
    const page = await gateway.as().get('/admin/queues').expect(200);
    expect(page.text).not.toMatch(/(href|src)="https?:/);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)]
      .map(([, path]) => new URL(path ?? '', `${gateway.url}/admin/queues/`))
      .flatMap(({ origin, pathname }) => (origin === new URL(gateway.url).origin ? [pathname] : []));
    expect(files.length).toBeGreaterThan(1);

    for (const path of [
      '/admin/queues',
      '/admin/queues/',
      '/admin/queues/api/queues',
      '/admin/queues/nothing',
      ...files,
    ]) {
      const { body, headers } = await gateway.anonymous.get(path).expect(401);
      expect(body.code).toBe('unauthorized');
      expect(headers['www-authenticate']).toContain('Basic');
    }
    await gateway.as('rondo_wrong').get('/admin/queues').expect(401);
  });

  it('serve the queue board read-only to the admin key, also as a password', async () => {
    const { body } = await gateway.anonymous.get('/admin/queues/api/queues').auth('admin', adminKey).expect(200);
    expect(body.queues).toMatchObject([
      { name: 'runs', readOnlyMode: true },
      { name: 'compactions', readOnlyMode: true },
    ]);
    await gateway.anonymous.get('/admin/queues').auth('root', adminKey).expect(401);
    await gateway.as().post('/admin/queues/api/queues/runs/pause').expect(405);
  });
});
