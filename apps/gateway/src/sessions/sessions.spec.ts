import { setTimeout as delay } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import { nextEvent } from '../testing/next-event';
import { RunningGateway, adminKey } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();

interface SignedIn {
  readonly cookie: string;
  readonly header: string;
  readonly session: { session_id: string; expires_at: string; scopes: string[]; caller_id: string };
}

const toCookie = (setCookie: unknown): string => String(setCookie).split(';')[0] ?? '';

async function signIn(key = adminKey, headers: Record<string, string> = {}): Promise<SignedIn> {
  const { body, headers: received } = await gateway.as(key).post('/v1/session').set(headers).send({}).expect(201);
  const header = String(received['set-cookie']);
  return { cookie: toCookie(header), header, session: body };
}

const fromPage = { 'Sec-Fetch-Site': 'same-origin' };
const newKey = async (scopes: string[]) =>
  (await gateway.as().post('/v1/api-keys').send({ name: 'of a test', scopes }).expect(201)).body as {
    id: string;
    key: string;
  };

function socketWith(headers: Record<string, string>): Socket {
  return io(`${gateway.url}/runs`, {
    extraHeaders: headers,
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
  });
}

const post = (headers: Record<string, string>) =>
  gateway.anonymous.post('/v1/runs').set(headers).send({ input: 'Go.' });

describe('a session', () => {
  it('does what its key may do, and names it', async () => {
    const { id, key } = await newKey(['read']);
    const { cookie, header, session } = await signIn(key);

    expect(header).toMatch(/^rondo_session=\S+; Path=\/; Max-Age=4\d{4}; HttpOnly; SameSite=Strict$/);
    expect(session).toMatchObject({ caller_id: id, scopes: ['read'], session_id: expect.stringMatching(/^ses_/) });
    expect(session).toMatchObject({ operates_deployment: false, account_name: 'admin', caller_name: 'of a test' });
    expect(JSON.stringify(session)).not.toContain(cookie.split('=')[1]);
    const { body } = await gateway.anonymous
      .get('/v1/session')
      .set({ cookie, ...fromPage })
      .expect(200);
    expect(body).toEqual(session);
    await gateway.anonymous.get('/v1/runs').set({ cookie }).expect(200);
    expect((await post({ cookie, ...fromPage }).expect(403)).body.detail).toContain('scope write');
  });

  it('is only sent over TLS where the gateway is behind TLS', async () => {
    const behindTls = { 'X-Forwarded-Proto': 'https' };
    const { cookie, header } = await signIn(adminKey, behindTls);

    expect(header).toMatch(/^__Host-rondo_session=\S+; Path=\/; .*; SameSite=Strict; Secure$/);
    await gateway.anonymous
      .get('/v1/runs')
      .set({ cookie, ...behindTls })
      .expect(200);
    await gateway.anonymous.get('/v1/runs').set({ cookie }).expect(401);
  });

  it('is not needed for a socket whose handshake has a key in its header, as a proxy adds it', async () => {
    const socket = socketWith({ Authorization: `Bearer ${adminKey}`, Origin: 'http://elsewhere.example' });
    await nextEvent(socket, 'connect');
    socket.disconnect();
    const refused = socketWith({ Authorization: 'Bearer rondo_wrong' });
    expect(await nextEvent(refused, 'connect_error')).toMatchObject([{ data: { code: 'unauthorized' } }]);
  });

  it('ends when it is deleted, with its socket and its streams, while the others of its key go on', async () => {
    const { key } = await newKey(['write']);
    const [mine, other] = [await signIn(key), await signIn(key)];
    const run = await gateway.createRun({ input: 'Go.' }, key);
    const socket = socketWith({ cookie: mine.cookie, Origin: gateway.url });
    await nextEvent(socket, 'connect');
    const cut = nextEvent(socket, 'disconnect');
    const stream = await fetch(`${gateway.url}/v1/runs/${run.id}/stream`, { headers: { cookie: mine.cookie } });

    const { headers } = await gateway.anonymous
      .delete('/v1/session')
      .set({ cookie: mine.cookie, ...fromPage })
      .expect(204);

    expect(String(headers['set-cookie'])).toMatch(/^rondo_session=; Path=\/; Max-Age=0;/);
    await cut;
    expect(await stream.text()).not.toContain('run.completed');
    await gateway.anonymous.get('/v1/runs').set({ cookie: mine.cookie }).expect(401);
    await gateway.anonymous.get('/v1/runs').set({ cookie: other.cookie }).expect(200);
  });

  it('ends with its key', async () => {
    const { id, key } = await newKey(['write']);
    const { cookie } = await signIn(key);
    const socket = socketWith({ cookie, Origin: gateway.url });
    await nextEvent(socket, 'connect');
    const cut = nextEvent(socket, 'disconnect');

    await gateway.as().delete(`/v1/api-keys/${id}`).expect(204);

    await gateway.anonymous.get('/v1/runs').set({ cookie }).expect(401);
    await cut;
  });

  it('ends after its time, with what it has open', async () => {
    const brief = await RunningGateway.start({ SESSION_HOURS: 1 / 3600 });
    try {
      const { headers, body } = await brief.as().post('/v1/session').send({}).expect(201);
      const cookie = toCookie(headers['set-cookie']);
      const socket = io(`${brief.url}/runs`, {
        extraHeaders: { cookie, Origin: brief.url },
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
      });
      const connected = nextEvent(socket, 'connect').then(() => nextEvent(socket, 'disconnect'));
      const refused = nextEvent(socket, 'connect_error'); // where this took longer than the session
      const ask = async () => (await brief.anonymous.get('/v1/runs').set({ cookie })).status;
      let status = await ask();
      for (; status === 200; status = await ask()) await delay(20);

      expect(status).toBe(401);
      expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(Date.now());
      await brief.parts.connections.check();
      await Promise.race([connected, refused]);
    } finally {
      await brief.close();
    }
  });

  it('is made with a key, not with another session', async () => {
    const { cookie } = await signIn();

    for (const path of ['/v1/session', '/v1/session/links']) {
      const { body } = await gateway.anonymous
        .post(path)
        .set({ cookie, ...fromPage })
        .send({})
        .expect(403);
      expect(body.code).toBe('forbidden');
    }
    expect((await gateway.as().delete('/v1/session').expect(403)).body.code).toBe('forbidden');
  });

  it('is one of the hundred newest of its key', async () => {
    const { key } = await newKey(['read']);
    const first = await signIn(key);
    await Promise.all(Array.from({ length: 99 }, () => signIn(key)));
    const last = await signIn(key);

    await gateway.anonymous.get('/v1/runs').set({ cookie: first.cookie }).expect(401);
    await gateway.anonymous.get('/v1/runs').set({ cookie: last.cookie }).expect(200);
  });

  it('is stored as a hash, and no response with one is kept under an idempotency key', async () => {
    const one = await signIn(adminKey, { 'Idempotency-Key': 'sign-in' });
    const again = gateway.as().post('/v1/session').set('Idempotency-Key', 'sign-in').send({});

    expect((await again.expect(409)).body.code).toBe('idempotency_key_used');
    const rows = await gateway.ownerDatabase.sql.query(
      'select sessions::text as row from sessions union all select keys::text from idempotency_keys as keys',
    );
    expect(JSON.stringify(rows)).not.toContain(one.cookie.split('=')[1]);
  });
});

describe('the sessions of an account', () => {
  const listed = async (as: string) =>
    (await gateway.as(as).get('/v1/sessions').expect(200)).body as {
      data: { id: string; last_used_at: string | null }[];
    };

  it('are listed for its admins, with their callers and last uses, until they are over', async () => {
    const owner = await gateway.toKey('an account');
    const [first, second] = [await signIn(owner), await signIn(owner)];
    await gateway.anonymous.get('/v1/runs').set({ cookie: second.cookie }).expect(200);
    await gateway.parts.keyUses.write();

    const { data } = await listed(owner);
    expect(data).toEqual([
      {
        id: second.session.session_id,
        caller_id: second.session.caller_id,
        scopes: ['admin'],
        created_at: expect.any(String),
        expires_at: second.session.expires_at,
        last_used_at: expect.any(String),
      },
      expect.objectContaining({ id: first.session.session_id, last_used_at: null }),
    ]);
    await gateway.anonymous
      .delete('/v1/session')
      .set({ cookie: first.cookie, ...fromPage })
      .expect(204);
    expect((await listed(owner)).data.map(({ id }) => id)).toEqual([second.session.session_id]);
  });

  it('are ended by its admins, with what they have open, and that is audited', async () => {
    const owner = await gateway.toKey('an account');
    const { cookie, session } = await signIn(owner);
    const socket = socketWith({ cookie, Origin: gateway.url });
    await nextEvent(socket, 'connect');
    const cut = nextEvent(socket, 'disconnect');

    for (const _ of ['ended', 'over']) await gateway.as(owner).delete(`/v1/sessions/${session.session_id}`).expect(204);

    await cut;
    await gateway.anonymous.get('/v1/runs').set({ cookie }).expect(401);
    const { body: log } = await gateway.as(owner).get('/v1/audit').expect(200);
    expect(log.data[0]).toMatchObject({ action: 'session.revoke', target: session.session_id, outcome: 'done' });
  });

  it('are neither seen nor ended by another account, nor by a key that is no admin', async () => {
    const owner = await gateway.toKey('an account');
    const { cookie, session } = await signIn(owner);
    const stranger = await gateway.toKey('another account');
    const path = `/v1/sessions/${session.session_id}`;
    const { body: writer } = await gateway
      .as(owner)
      .post('/v1/api-keys')
      .send({ name: 'w', scopes: ['write'] })
      .expect(201);

    expect((await listed(stranger)).data).toEqual([]);
    expect((await gateway.as(stranger).delete(path).expect(404)).body.code).toBe('session_not_found');
    expect((await gateway.as(owner).delete('/v1/sessions/ses_none').expect(404)).body.code).toBe('session_not_found');
    await gateway.as(writer.key).get('/v1/sessions').expect(403);
    await gateway.as(writer.key).delete(path).expect(403);
    await gateway.anonymous.get('/v1/runs').set({ cookie }).expect(200);
  });
});

describe('a link to sign in', () => {
  const newLink = async (key = adminKey) =>
    (await gateway.as(key).post('/v1/session/links').send({}).expect(201)).body as { path: string };

  it('signs one browser in and leads to the console', async () => {
    const { path } = await newLink();
    const { headers } = await gateway.anonymous.get(path).set({ 'Sec-Fetch-Site': 'none' }).expect(303);

    expect(headers.location).toBe('console/');
    const cookie = toCookie(headers['set-cookie']);
    const { body } = await gateway.anonymous.get('/v1/session').set({ cookie }).expect(200);
    expect(body).toMatchObject({ account_id: 'acc_admin', scopes: ['admin'] });
  });

  it('works once, however many try it at the same time', async () => {
    const { path } = await newLink();
    const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.anonymous.get(path)));

    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array<number>(7).fill(401)]);
  });

  it('is not used up by a look at its head', async () => {
    const { path } = await newLink();

    await gateway.anonymous.head(path).expect(405);
    await gateway.anonymous.get(path).expect(303);
  });

  it('is made by admins, and ends with their key and after its time', async () => {
    await gateway
      .as((await newKey(['write'])).key)
      .post('/v1/session/links')
      .send({})
      .expect(403);
    const { id, key } = await newKey(['admin']);
    const { path } = await newLink(key);
    await gateway.as().delete(`/v1/api-keys/${id}`).expect(204);
    await gateway.anonymous.get(path).expect(401);

    const late = await newLink();
    await gateway.ownerDatabase.sql.query(`update session_links set expires_at = clock_timestamp()`);
    await gateway.anonymous.get(late.path).expect(401);
  });
});

describe('attack: public API', () => {
  const foreign = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://127.0.0.1:1' },
    {},
  ];

  it.each(foreign)('a page of another origin sends a request with the cookie and %j', async (headers) => {
    const { cookie } = await signIn();

    expect((await post({ cookie, ...headers }).expect(403)).body.code).toBe('forbidden');
    await gateway.anonymous
      .delete('/v1/session')
      .set({ cookie, ...headers })
      .expect(403);
    await gateway.anonymous.get('/v1/runs').set({ cookie }).expect(200);
  });

  it.each(foreign)('a page of another origin opens a socket with the cookie and %j', async (headers) => {
    const { cookie } = await signIn();

    const socket = socketWith({ cookie, ...headers });
    const [error] = await nextEvent(socket, 'connect_error');
    expect(error).toMatchObject({ message: 'forbidden' });
  });

  it.each(foreign.slice(0, 2))('a page of another origin reads a stream with the cookie and %j', async (headers) => {
    const { cookie } = await signIn();
    const { id } = await gateway.createRun();

    await gateway.anonymous
      .get(`/v1/runs/${id}/stream`)
      .set({ cookie, ...headers })
      .expect(403);
  });

  it('a page of a subdomain adds a cookie of its own', async () => {
    const { cookie } = await signIn();
    const { cookie: planted } = await signIn(await gateway.toKey('attacker'));

    await post({ cookie: `${planted}; ${cookie}`, ...fromPage }).expect(401);
    await post({ cookie: `other=1; ${cookie}`, ...fromPage }).expect(202);
  });

  it('a page signs the browser of a visitor in to the account of the attacker', async () => {
    const { body } = await gateway
      .as(await gateway.toKey('attacker'))
      .post('/v1/session/links')
      .send({})
      .expect(201);

    for (const site of ['cross-site', 'same-site']) {
      await gateway.anonymous.get(body.path).set({ 'Sec-Fetch-Site': site }).expect(403);
    }
    await gateway.anonymous.get(body.path).set({ Host: 'rondo.example' }).expect(403); // plain HTTP, so no site is said
  });

  it('the secret of a session as a key, and a key as a cookie', async () => {
    const { cookie } = await signIn();

    await gateway.as(cookie.split('=')[1]).get('/v1/runs').expect(401);
    await gateway.anonymous
      .get('/v1/runs')
      .set({ cookie: `rondo_session=${adminKey}` })
      .expect(401);
  });
});
