import { once } from 'node:events';
import { type Socket as TcpSocket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '@rondo/contract';
import type { IiAgentEvent } from '@rondo/contract/api';
import { WebSocket } from 'ws';
import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestWorker } from '../../testing/test-worker';
import { type Frame, bearer, readNewest } from './testing/ii-agent-frames';

let gateway: RunningGateway;
let worker: TestWorker;
const open: WebSocket[] = [];
beforeAll(async () => {
  const MODEL_ALIASES = '{"usual": "demo/plain"}';
  gateway = await RunningGateway.start({
    ...{ SOCKETS_PER_ACCOUNT: 40, STALL_LIMIT_S: 3, BODY_LIMIT_BYTES: 1_000_000, MODEL_ALIASES },
  });
  worker = await TestWorker.start(gateway.database);
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.terminate();
});
afterAll(async () => {
  await worker.close();
  await gateway.close();
});

const address = (query: string, to = gateway): string => `${to.url.replace('http', 'ws')}/ii/ws?device_id=d${query}`;

/** What the front end does with its socket. */
class Client {
  readonly frames: Frame[] = [];
  private read = 0;

  private constructor(readonly socket: WebSocket) {
    open.push(socket);
    socket.setMaxListeners(0); // each frame that is awaited has one
    socket.on('error', () => undefined); // being cut is an error of it
    socket.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString()) as Frame));
  }

  static async open(query = '', headers: Record<string, string> = bearer(), to = gateway): Promise<Client> {
    const client = new Client(new WebSocket(address(query, to), { headers }));
    await client.next('connection_established');
    return client;
  }

  send(type: string, content: object = {}): void {
    this.socket.send(JSON.stringify({ type, content }));
  }

  /** The next frame of this type that was not read yet. */
  async next(type: string): Promise<Frame> {
    for (;;) {
      const found = this.frames.findIndex((frame, index) => index >= this.read && frame.type === type);
      const frame = this.frames[found];
      if (frame) {
        this.read = found + 1;
        return frame;
      }
      const closed = once(this.socket, 'close').then(() => true);
      const isClosed = await Promise.race([once(this.socket, 'message').then(() => false), closed]);
      if (isClosed) throw new Error(`closed before ${type}: ${JSON.stringify(this.frames)}`);
    }
  }

  async refusal(type: string, content: object = {}): Promise<string> {
    this.send(type, content);
    return (await this.next('error')).content['message'] ?? '';
  }

  get session(): string {
    return this.frames[0]?.content['workspace_path']?.split('/').at(-1) ?? '';
  }

  /** Those that follow from the log. */
  get logged(): Frame[] {
    return this.frames.filter(({ id }) => id !== undefined);
  }

  /** The run of the query. */
  async ask(text: string, more: object = {}, model_name = 'demo/coder'): Promise<Run> {
    this.send('init_agent', { model_name, tool_args: { pdf: true, deep_research: false } });
    await this.next('agent_initialized');
    this.send('query', { text, ...more });
    await this.next('processing');
    return readNewest(gateway, this.session);
  }

  close(): Promise<unknown> {
    const closed = once(this.socket, 'close');
    this.socket.close();
    return closed;
  }
}

const readEvents = async (session: string): Promise<IiAgentEvent[]> =>
  ((await gateway.as().get(`/ii/api/sessions/${session}/events`).expect(200)).body as { events: IiAgentEvent[] })
    .events;

describe('a session of II-Agent', () => {
  it('shows what its run says and does, and the same frames over REST', async () => {
    const client = await Client.open();
    const run = await client.ask('Go.', {}, 'usual');
    expect(run.settings).toMatchObject({ profile: 'ii', model: 'demo/plain' });
    const claimed = await worker.claim(run.id);
    claimed.streamText('Hello.');
    await claimed.finishMessage();
    await claimed.complete();
    expect((await client.next('agent_response')).content).toEqual({ text: 'Hello.' });
    await client.next('stream_complete');

    const events = await readEvents(client.session);
    expect(events[0]).toMatchObject({ event_type: 'user_message', session_id: client.session });
    const shown = events.filter(({ event_type: type }) => type !== 'user_message');
    expect(shown.map(({ id, event_payload: payload }) => ({ ...payload, id }))).toEqual(client.logged);
    const { body } = await gateway.as().get('/ii/api/sessions/d').expect(200);
    expect((body as { sessions: object[] }).sessions).toContainEqual(
      expect.objectContaining({ id: client.session, device_id: 'd', name: 'Go.' }),
    );
  });

  it('goes on after an event that a client has, or with the run that is active', async () => {
    const first = await Client.open();
    const claimed = await worker.claim((await first.ask('Go.')).id);
    claimed.streamText('One.');
    await claimed.finishMessage();
    const { id } = await first.next('agent_thinking');
    await first.close();
    claimed.streamText('Two.');
    await claimed.finishMessage();

    const again = await Client.open(`&session_uuid=${first.session}`);
    const rest = await Client.open(`&session_uuid=${first.session}&after=${id}`);
    await claimed.complete();
    for (const client of [again, rest]) await client.next('stream_complete');
    const texts = ({ logged }: Client) => logged.map(({ content }) => content['text']);
    expect(texts(again)).toEqual(['One.', 'Two.', 'Two.', undefined]);
    expect(texts(rest)).toEqual(['Two.', 'Two.', undefined]);
    expect(again.frames.filter(({ type }) => type === 'processing')).toHaveLength(1);
    const late = await Client.open(`&session_uuid=${first.session}`);
    late.send('ping');
    await late.next('pong');
    expect(late.logged).toEqual([]);
  });

  it('goes on after the events that its page was given before', async () => {
    const first = await Client.open();
    const claimed = await worker.claim((await first.ask('Go.')).id);
    claimed.streamText('One.');
    await claimed.finishMessage();
    await first.next('agent_thinking');
    const { headers: signedIn } = await gateway.as().post('/v1/session').send({}).expect(201);
    const cookie = String(signedIn['set-cookie']).split(';')[0] ?? '';
    const origin = { Origin: gateway.url, 'Sec-Fetch-Site': 'same-origin' };

    const path = `/ii/api/sessions/${first.session}/events`;
    const loaded = await fetch(`${gateway.url}${path}`, { headers: { cookie, ...origin } });
    expect(((await loaded.json()) as { events: object[] }).events).toHaveLength(2);
    const shown = loaded.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    claimed.streamText('Two.');
    await claimed.finishMessage();
    const query = `&session_uuid=${first.session}`;
    const page = await Client.open(query, { cookie: `${cookie}; ${shown}`, ...origin });
    const forged = await Client.open(query, { cookie: `${cookie}; ${shown.replace(/:.*/, ':999.1.1')}`, ...origin });
    await claimed.complete();

    for (const client of [page, forged]) await client.next('stream_complete');
    const texts = ({ logged }: Client) => logged.map(({ content }) => content['text']);
    expect(texts(page)).toEqual(['Two.', 'Two.', undefined]);
    expect(texts(forged)).toEqual(['One.', 'Two.', 'Two.', undefined]);
  });

  it('answers a question with the next query, and tells what else a run waits for', async () => {
    const client = await Client.open();
    const claimed = await worker.claim((await client.ask('Go.')).id);
    await claimed.ask('Which colour?');
    await client.next('stream_complete');
    client.send('query', { text: 'Blue.', resume: true });
    await client.next('processing');
    let status = 'waiting_input';
    while (status === 'waiting_input') ({ status } = await gateway.read(claimed.claim.runId));
    const resumed = await worker.claim(claimed.claim.runId);
    await resumed.requestApprovals();
    expect((await client.next('system')).content['message']).toContain('approval');
    expect(await client.refusal('query', { text: 'And?', resume: true })).toContain('active');
  });

  it('stops with a cancel, and says so when it is true', async () => {
    const client = await Client.open();
    const claimed = await worker.claim((await client.ask('Go.')).id);
    client.send('cancel');
    await client.next('system');
    expect(client.frames.map(({ type }) => type)).not.toContain('agent_response_interrupted');
    await claimed.stop();
    await client.next('agent_response_interrupted');
    expect(await client.refusal('cancel')).toBe('No active agent for this session');
    const { body } = await gateway.as().get('/v1/audit?action=run.stop&limit=1').expect(200);
    expect(body).toMatchObject({ data: [{ target: claimed.claim.runId, outcome: 'done' }] });
  });

  it('replaces its newest question', async () => {
    const client = await Client.open();
    const first = await client.ask('Go.');
    client.send('edit_query', { text: 'Go there.' });
    await client.next('processing');
    let newest = first;
    while (newest.id === first.id) newest = await readNewest(gateway, client.session);
    await client.next('agent_response_interrupted');
    expect((await gateway.read(first.id)).status).toBe('stopped');
  });

  it('brings an uploaded file to the run of the query that names it', async () => {
    const client = await Client.open();
    const content = `data:text/plain;base64,${Buffer.from('plans').toString('base64')}`;
    const upload = { session_id: client.session, file: { path: 'plans.txt', content } };
    const { body } = await gateway.as().post('/ii/api/upload').send(upload).expect(200);
    const { path } = (body as { file: { path: string } }).file;
    await client.ask('Read it.', { files: [`.${path}`] });
    const [event] = await readEvents(client.session);
    expect(event?.event_payload.content['text']).toContain('Read it.');
    const { body: files } = await gateway
      .as()
      .get(`/v1/files/${path.split('/')[2]}`)
      .expect(200);
    expect(files).toMatchObject({ name: 'plans.txt', size: 5 });
  });

  it('lists what it can be begun with', async () => {
    const { body } = await gateway.as().get('/ii/api/settings').expect(200);
    expect(body).toMatchObject({
      llm_configs: { 'demo/coder': { model: 'demo/coder', api_type: 'openai', api_key: null } },
    });
  });

  it.each([
    ['query', { text: 'Hi.' }, 'init_agent'],
    ['enhance_prompt', { text: 'Hi.' }, 'enhance_prompt is not served here'],
    ['review_result', {}, 'review_result is not served here'],
    ['fly', {}, 'Unknown message type: fly'],
    ['init_agent', { model_name: 'unknown' }, 'There is no agent unknown'],
    ['init_agent', { model_name: 'demo/coder', tool_args: { deep_research: true } }, 'tool_args.deep_research'],
    ['init_agent', { model_name: 'demo/coder', tool_args: { fly: true } }, 'fly'],
    ['init_agent', {}, 'model_name'],
    ['cancel', {}, 'No active agent'],
  ])('refuses %s %j by name, and stays open', async (type, content, why) => {
    const client = await Client.open();
    expect(await client.refusal(type, content)).toContain(why);
    client.send('ping');
    await client.next('pong');
  });

  it.each([
    [{ text: '/compact' }, '/compact is not served'],
    [{ text: '' }, 'text'],
    [{ text: 'x', files: ['/etc/passwd'] }, 'files.0'],
    [{ text: 'x', temperature: 1 }, 'temperature'],
  ])('refuses the query %j by name', async (query, why) => {
    const client = await Client.open();
    client.send('init_agent', { model_name: 'demo/coder' });
    await client.next('agent_initialized');
    expect(await client.refusal('query', query)).toContain(why);
  });

  it('refuses what would make the model forget, and what is no JSON', async () => {
    const client = await Client.open();
    await client.ask('Go.');
    expect(await client.refusal('query', { text: 'Again.' })).toContain('resume');
    client.socket.send('{');
    expect((await client.next('error')).content['code']).toBe('malformed_json');
  });

  it('is over when its thread is deleted, and when the gateway leaves', async () => {
    const leaving = await RunningGateway.start({ DATABASE_URL: gateway.parts.config.DATABASE_URL });
    const client = await Client.open('', bearer(), leaving);
    const closed = once(client.socket, 'close') as Promise<[number]>;
    await leaving.close();
    expect((await closed)[0]).toBe(1012);
  });

  it('answers a request that is no WebSocket', async () => {
    const { body } = await gateway.as().get('/ii/ws').expect(400);
    expect(body).toMatchObject({ detail: 'Open a WebSocket here.' });
    const { body: refused } = await gateway.as().get('/ii/workspace/x/index.html').expect(404);
    expect((refused as { detail: string }).detail).toContain('/v1/sandboxes');
  });
});

/** Resolves to the status with which the upgrade is refused. */
async function refuses(query: string, headers: Record<string, string> = {}, to = gateway): Promise<number | undefined> {
  const socket = new WebSocket(address(query, to), { headers });
  socket.on('error', () => undefined);
  open.push(socket);
  const refused = once(socket, 'unexpected-response') as Promise<[unknown, { statusCode?: number }]>;
  const outcome = await Promise.race([refused, once(socket, 'open').then(() => undefined)]);
  return outcome?.[1].statusCode;
}

const newToken = async (wanted: object): Promise<string> => {
  const request = { scopes: ['read', 'send', 'answer', 'files'], ...wanted };
  return ((await gateway.as().post('/v1/client-tokens').send(request).expect(201)).body as { token: string }).token;
};

/** A socket whose client reads nothing from now on. */
const findTcp = ({ socket }: Client): TcpSocket => (socket as unknown as { _socket: TcpSocket })._socket; // not in its types

describe('a client token in the URL of a socket', () => {
  it('begins sessions of its person, and reaches no other', async () => {
    const client = await Client.open(`&token=${await newToken({ user: 'ann' })}`, {});
    const run = await client.ask('Go.');
    expect(run).toMatchObject({ user: 'ann', settings: { profile: 'suna' } });
    const bob = `&token=${await newToken({ user: 'bob' })}`;
    const intruder = await Client.open(`&session_uuid=${client.session}${bob}`, {});
    expect((await intruder.next('error')).content['code']).toBe('thread_not_found');
    expect(await intruder.refusal('cancel')).toContain('There is no thread');
  });

  it('of a thread has that one as its session', async () => {
    const { thread_id } = await gateway.createRun();
    const token = `&token=${await newToken({ thread_id })}`;
    const client = await Client.open(token, {});
    expect(client.session).toBe(thread_id);
    const elsewhere = await Client.open(`&session_uuid=elsewhere${token}`, {});
    expect((await elsewhere.next('error')).content['code']).toBe('thread_not_found');
  });

  it('that only reads asks nothing', async () => {
    const client = await Client.open(`&token=${await newToken({ user: 'ann', scopes: ['read'] })}`, {});
    client.send('init_agent', { model_name: 'demo/coder' });
    expect(await client.refusal('query', { text: 'Go.' })).toContain('scope send');
    expect(await refuses(`&token=${await newToken({ user: 'ann', scopes: ['send'] })}`)).toBe(403);
  });
});

describe('attack: sockets of II-Agent', () => {
  it('a socket without a key, with a wrong one, and with a key in the URL', async () => {
    expect(await refuses('')).toBe(401);
    expect(await refuses('', bearer('rondo_wrong'))).toBe(401);
    expect(await refuses(`&token=${adminKey}`)).toBe(401);
    expect(await refuses('', { ...bearer(), 'x-api-key': 'rondo_other' })).toBe(400);
  });

  it('a page of another origin opens one with the cookie', async () => {
    const { headers } = await gateway.as().post('/v1/session').send({}).expect(201);
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    expect(await refuses('', { cookie, Origin: 'https://evil.example' })).toBe(403);
    expect(await refuses('', { cookie, Origin: gateway.url })).toBeUndefined();
  });

  it('a stranger opens the session of another account', async () => {
    const mine = await Client.open();
    const run = await mine.ask('Go.');
    const stranger = bearer(await gateway.toKey('stranger of a session'));
    for (const name of [mine.session, run.thread_id]) {
      const client = await Client.open(`&session_uuid=${name}`, stranger);
      expect(await client.refusal('cancel')).toBe('No active agent for this session');
      expect(client.logged).toEqual([]);
    }
    expect(await gateway.read(run.id)).toEqual(run);
  });

  it('frames before the key was checked', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined); // being cut is what is expected
    const head = ['GET /ii/ws HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Authorization: Bearer ${adminKey}`, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '\r\n']; // prettier-ignore
    socket.write(Buffer.concat([Buffer.from(head.join('\r\n')), Buffer.alloc(1024)]));
    await once(socket, 'close');
  });

  it('an address that is no URL', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined); // as above
    socket.write('GET // HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    await (await Client.open()).close();
  });

  it('more sockets than the keys of an account may have', async () => {
    const key = await gateway.toKey('account of many sockets');
    const statuses = await Promise.all(Array.from({ length: 50 }, () => refuses('', bearer(key))));
    expect(statuses.filter((status) => status === undefined)).toHaveLength(40);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  it('handshakes one after another', async () => {
    const slow = await RunningGateway.start({
      DATABASE_URL: gateway.parts.config.DATABASE_URL,
      HANDSHAKES_PER_SECOND: 2,
    });
    const statuses = await Promise.all(Array.from({ length: 12 }, () => refuses('', bearer('rondo_guess'), slow)));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5);
    await slow.close();
  });

  it('a message that is longer than a body may be, and one in many pieces', async () => {
    const long = await Client.open();
    long.send('query', { text: 'x'.repeat(1_000_001) });
    expect(((await once(long.socket, 'close')) as [number])[0]).toBe(1009);
    const pieces = await Client.open();
    for (let count = 0; count < 100; count += 1) pieces.socket.send('x', { fin: false });
    await once(pieces.socket, 'close');
  });

  it('a key that is revoked while its socket is open', async () => {
    const { body } = await gateway
      .as()
      .post('/v1/api-keys')
      .send({ name: 'short', scopes: ['read'] })
      .expect(201);
    const { id, key } = body as { id: string; key: string };
    const client = await Client.open('', bearer(key));
    const closed = once(client.socket, 'close');
    await gateway.as().delete(`/v1/api-keys/${id}`).expect(204);
    await closed;
  });

  it('a client that sends and never reads', async () => {
    const client = await Client.open();
    findTcp(client).pause();
    const closed = once(client.socket, 'close');
    const message = JSON.stringify({ type: 'x'.repeat(100), content: {} });
    for (let count = 0; count < 150_000; count += 1) client.socket.send(message);
    await closed;
  });
});

describe('a client of II-Agent that does not read', () => {
  it('is disconnected, holds up no other, and has everything once when it is back', async () => {
    const [slow, ordinary] = [await Client.open(), await Client.open()];
    const claimed = await worker.claim((await slow.ask('Go.')).id);
    const watching = await Client.open(`&session_uuid=${slow.session}`);
    findTcp(slow).pause();
    const closed = once(slow.socket, 'close');
    for (let count = 0; count < 100; count += 1) {
      claimed.streamText(`${count} ${'x'.repeat(250_000)}`);
      await claimed.finishMessage();
    }
    await claimed.complete();
    await watching.next('stream_complete');
    ordinary.send('ping');
    await ordinary.next('pong');
    while (gateway.parts.connections.count > 2) await delay(20); // until the gateway has given up the slow one
    findTcp(slow).resume();
    await closed;

    const rest = await Client.open(`&session_uuid=${slow.session}&after=${slow.logged.at(-1)?.id ?? '1.1.0'}`);
    await rest.next('stream_complete');
    expect([...slow.logged, ...rest.logged]).toEqual(watching.logged);
  });
});
