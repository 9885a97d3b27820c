import { connect as connectTcp } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RondoClient, RunningRondo } from '@rondo/test-deployment';
import { natsPermissions, natsServices, toTraffic, wireNames } from '@rondo/messaging';
import { type Msg, type NatsConnection, connect } from 'nats';

const names = wireNames();
const streams = [names.toolCalls, names.toolTakers, names.toolResults];
const call = { runId: 'run_1', callId: 'call_1', attempt: 1 };

let rondo: RunningRondo;
let owner: NatsConnection;
let ids: { one: string; other: string };
const connections: NatsConnection[] = [];
/** A run that waits for a person, and what its watcher sees. */
let parkedRun: { id: string; threadId: string; lastSeq: number };
let watcher: ReturnType<RondoClient['connect']>;
const seen: { id: string }[] = [];

/** Logs in as an instance of a service does. */
async function as(url: string | undefined): Promise<NatsConnection> {
  const { username: user, password: pass, host } = new URL(url ?? '');
  const connection = await connect({ servers: host, user, pass, inboxPrefix: `_INBOX.${user}`, reconnect: false });
  connections.push(connection);
  return connection;
}

const asService = (instance: string) => as(rondo.services.toUrls(instance).NATS_URL);
const toUser = (instance: string) => new URL(rondo.services.toUrls(instance).NATS_URL ?? '').username;

beforeAll(async () => {
  rondo = await RunningRondo.start({
    instances: ['demo-model', 'tool-executor', 'tool-executor', 'agent-worker', 'summarizer', 'gateway'],
  });
  owner = await as(rondo.infrastructure.env.NATS_URL);
  ids = { one: toUser('tool-executor'), other: toUser('tool-executor-2') };
  parkedRun = await parked(rondo.client());
  watcher = rondo.client().connect();
  watcher.on('event', (event: { id: string }) => void seen.push(event));
  await watcher.emitWithAck('run.subscribe', { run_id: parkedRun.id, after_seq: 0 });
});
afterAll(async () => {
  watcher.close();
  await Promise.all(connections.map((connection) => connection.close()));
  await rondo.stop();
});

async function parked(client: RondoClient) {
  const { id } = await client.createRun({ model: 'demo/ask', input: 'Ask me.' });
  const { thread_id: threadId, last_seq: lastSeq } = await client.waitForRun(id);
  return { id, threadId, lastSeq };
}

/** One subject of each kind that there is, by name: of traffic, of JetStream's administration, of inboxes. */
function everySubject(): string[] {
  const traffic = [ids.one, ids.other].flatMap((id) => Object.values(toTraffic(id)).map(({ subject }) => subject));
  const administration = streams.flatMap(({ stream, all, of }) => [
    ...['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'INFO', 'SNAPSHOT', 'RESTORE'].map((what) => `STREAM.${what}.${stream}`),
    ...['GET', 'DELETE'].map((what) => `STREAM.MSG.${what}.${stream}`),
    ...[`DIRECT.GET.${stream}`, `DIRECT.GET.${stream}.${all}`, `CONSUMER.CREATE.${stream}`, `CONSUMER.NAMES.${stream}`],
    ...[ids.one, ids.other].flatMap((id) => [
      ...['CREATE', 'DURABLE.CREATE', 'DELETE', 'INFO', 'MSG.NEXT'].map((what) => `CONSUMER.${what}.${stream}.${id}`),
      ...[ids.one, ids.other].map((consumer) => `CONSUMER.CREATE.${stream}.${consumer}.${of(id)}`),
      `DIRECT.GET.${stream}.${of(id)}`,
    ]),
  ]);
  const api = [...administration, 'INFO', 'STREAM.NAMES', 'STREAM.LIST', 'STREAM.CREATE.MINE', 'META.LEADER.STEPDOWN'];
  const acknowledgements = [ids.one, ids.other].map((id) => `$JS.ACK.TOOL_CALLS.${id}.1.1.1.1.1`);
  const inboxes = [...natsServices, ids.one, ids.other].map((user) => `_INBOX.${user}.x`);
  const subjects = [...traffic, ...api.map((name) => `$JS.API.${name}`), ...acknowledgements, ...inboxes, 'anything'];
  return [...new Set(subjects.map((subject) => subject.replace(/[*>]/g, 'some')))];
}

/** Whether a list of subjects, as permissions have it, allows this one. */
function allows(patterns: readonly string[], subject: string): boolean {
  return patterns.some((pattern) => {
    const tokens = pattern.split(' ')[0]?.split('.') ?? [];
    const said = subject.split('.');
    const fits = tokens.every((token, index) => token === '>' || (said[index] && [said[index], '*'].includes(token)));
    return fits && (tokens.at(-1) === '>' || tokens.length === said.length);
  });
}

const createPermissions = (instance: string) =>
  instance.startsWith('tool-executor')
    ? natsPermissions({ executor: toUser(instance) })
    : natsPermissions(instance as 'gateway'); // or another of them

/** What reaches the server's owner on these subjects while `work` is done. */
async function reaching(subjects: readonly string[], work: () => Promise<void>): Promise<string[]> {
  const heard: Msg[] = [];
  const subscriptions = subjects.map((subject) =>
    owner.subscribe(subject, { callback: (_error, message) => void heard.push(message) }),
  );
  await owner.flush();
  await work();
  for (const subject of subjects) owner.publish(subject, 'the last');
  await owner.flush();
  subscriptions.forEach((subscription) => subscription.unsubscribe());
  expect(new Set(heard.filter((m) => m.string() === 'the last').map((m) => m.subject))).toEqual(new Set(subjects));
  return heard.filter((message) => message.string() === 'an attack').map(({ subject }) => subject);
}

/** A message that no service takes out of the stream: its executor does not exist. */
async function store({ stream, one }: (typeof streams)[number], callId: string) {
  const { seq } = await owner.jetstream().publish(one('absent', { ...call, callId }), '{}');
  return { stream, seq };
}

const services = ['gateway', 'agent-worker', 'summarizer', 'tool-executor'];

describe('attack: service credentials', () => {
  it.each(services)('%s speaks on every subject that is not its own', async (instance) => {
    const { publish } = createPermissions(instance);
    const forbidden = everySubject().filter((subject) => !allows(publish, subject));
    const connection = await asService(instance);

    const through = await reaching(forbidden, async () => {
      for (const subject of forbidden) connection.publish(subject, 'an attack');
      await connection.flush();
    });

    expect(forbidden.length).toBeGreaterThan(40);
    expect(through).toEqual([]);
  });

  it.each(services)('%s listens on every subject that is not its own, and to everything at once', async (instance) => {
    const { subscribe } = createPermissions(instance);
    const wildcards = ['>', '*', '_INBOX.>', 'run.>', 'tool.>', 'runs.>', '$JS.>', '$SYS.>'];
    const forbidden = everySubject().filter((subject) => !allows(subscribe, subject));
    const connection = await asService(instance);
    const heard: string[] = [];
    for (const subject of [...forbidden, ...wildcards]) {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) heard.push(message.subject);
        },
      });
    }
    await connection.flush();

    for (const subject of forbidden) owner.publish(subject, 'a secret');
    await owner.flush();
    await connection.flush();

    expect(heard).toEqual([]);
  });

  it.each([
    ['a forged result of another executor’s call', () => names.toolResults.one(ids.other, call)],
    ['a forged message to the worker of another executor’s run', () => names.toolNews(ids.other, 'run_1')],
    ['a forged call for another executor', () => names.toolCalls.one(ids.other, call)],
    ['a forged call for itself', () => names.toolCalls.one(ids.one, call)],
    ['a forged pure call for another executor', () => names.toolAsk(ids.other)],
    ['a forged taking of another executor’s call', () => names.toolTakers.one(ids.other, call)],
    ['the end of another executor’s call', () => names.toolCancel(ids.other)],
    ['the removal of another executor’s workspaces', () => names.sandboxForget(ids.other)],
    ['another executor’s word that it is open', () => names.executorOpen(ids.other)],
    ['a forged fact', () => names.runEvents('run_1')],
    ['a forged stop', () => 'runs.stop'],
    ['an answer in a worker’s inbox', () => '_INBOX.agent-worker.guessed'],
    ['the acknowledgement of another executor’s call', () => `$JS.ACK.TOOL_CALLS.${ids.other}.1.1.1.1.1`],
  ])('an executor’s credentials: %s', async (_what, toSubject) => {
    const executor = await asService('tool-executor');

    const through = await reaching([toSubject()], async () => {
      executor.publish(toSubject(), 'an attack');
      await executor.flush();
    });

    expect(through).toEqual([]);
  });

  it.each(['gateway', 'summarizer', 'tool-executor', 'agent-worker'])(
    '%s deletes, purges and makes streams',
    async (name) => {
      const connection = await asService(name);
      const manager = await owner.jetstreamManager();
      const kept = await Promise.all(streams.map((stream) => store(stream, name)));
      const created = () =>
        Promise.all(streams.map(async ({ stream }) => (await manager.streams.info(stream)).created));
      const before = await created();
      const ask = (subject: string, body: object = {}) =>
        connection.request(`$JS.API.${subject}`, JSON.stringify(body), { timeout: 100 }).catch(() => undefined);

      for (const { stream } of streams)
        await Promise.all([ask(`STREAM.PURGE.${stream}`), ask(`STREAM.DELETE.${stream}`)]);
      await ask('STREAM.CREATE.MINE', { name: 'MINE', subjects: ['run.>'] });

      expect(await created()).toEqual(before);
      for (const { stream, seq } of kept)
        await expect(manager.streams.getMessage(stream, { seq })).resolves.toMatchObject({ seq });
      await expect(manager.streams.info('MINE')).rejects.toThrow('stream not found');
    },
  );

  it('an executor has its own consumer deliver another executor’s calls', async () => {
    const executor = await asService('tool-executor');
    const { consumers } = await owner.jetstreamManager();
    const config = { durable_name: ids.one, ack_policy: 'explicit', filter_subject: names.toolCalls.of(ids.other) };
    const body = JSON.stringify({ stream_name: 'TOOL_CALLS', config });
    const ask = (subject: string) =>
      executor.request(`$JS.API.${subject}`, body, { timeout: 200 }).then(
        (answer) => answer.json<{ error?: { description: string } }>().error?.description ?? 'done',
        () => 'forbidden',
      );

    expect(await ask(`CONSUMER.CREATE.TOOL_CALLS.${ids.one}.${names.toolCalls.of(ids.other)}`)).toBe('forbidden');
    expect(await ask(`CONSUMER.CREATE.TOOL_CALLS.${ids.one}`)).toBe('forbidden');
    expect(await ask(`CONSUMER.DURABLE.CREATE.TOOL_CALLS.${ids.one}`)).toBe('forbidden');
    expect(await ask(`CONSUMER.CREATE.TOOL_CALLS.${ids.one}.${names.toolCalls.of(ids.one)}`)).not.toBe('done');
    expect((await consumers.info('TOOL_CALLS', ids.one)).config.filter_subject).toBe(names.toolCalls.of(ids.one));
  });

  it('an executor pulls another executor’s calls', async () => {
    const executor = await asService('tool-executor');

    const pulled = executor.request(`$JS.API.CONSUMER.MSG.NEXT.TOOL_CALLS.${ids.other}`, '1', { timeout: 300 });

    await expect(pulled).rejects.toMatchObject({ code: 'PERMISSIONS_VIOLATION' });
  });

  it('an executor reads the results of another executor’s calls', async () => {
    owner.publish(names.toolResults.one(ids.other, call), '{"a":"secret"}');
    const executor = await asService('tool-executor');
    const ask = (subject: string, body = '') => executor.request(`$JS.API.${subject}`, body, { timeout: 300 });
    const result = names.toolResults.one(ids.other, call);

    await expect(ask(`DIRECT.GET.TOOL_RESULTS.${result}`)).rejects.toThrow();
    await expect(ask('STREAM.MSG.GET.TOOL_RESULTS', JSON.stringify({ last_by_subj: result }))).rejects.toThrow();
    await expect(ask('DIRECT.GET.TOOL_RESULTS', JSON.stringify({ last_by_subj: result }))).rejects.toThrow();
  });

  it.each([
    ['a run’s watchers', 'gateway', () => names.runEvents(parkedRun.id)],
    ['another executor', 'tool-executor-2', () => names.toolCalls.one(ids.other, { ...call, callId: 'call_bounced' })],
    ['another executor, past the queue', 'tool-executor-2', () => names.toolAsk(ids.other)],
    ['the removal of another executor’s workspaces', 'tool-executor-2', () => names.sandboxForget(ids.other)],
  ])('an executor has JetStream send what it stored to %s', async (_whom, victim, toSubject) => {
    const executor = await asService('tool-executor');
    const own = names.toolResults.one(ids.one, { ...call, callId: `call_${Math.random().toString(36).slice(2)}` });
    await executor.request(own, JSON.stringify(forgedFact()));
    const dropped = countDrops(victim);

    executor.publish(`$JS.API.DIRECT.GET.TOOL_RESULTS.${own}`, '', { reply: toSubject() });
    await executor.flush();

    while (countDrops(victim) === dropped) await sleep(20);
    expect(seen.filter(({ id }) => id === 'evt_forged')).toEqual([]);
  });

  it.each([
    ['of an earlier claim', { epoch: 0 }],
    ['of another thread', { thread_id: 'thr_other' }],
    ['of another run', { run_id: 'run_other' }],
  ])('a summarizer shows the watchers of a run a fact %s', async (_what, lie) => {
    const summarizer = await asService('summarizer');
    const before = gatewayLog().length;

    summarizer.publish(names.runEvents(parkedRun.id), JSON.stringify({ ...forgedFact(), ...lie }));
    await summarizer.flush();

    while (!/ImplausibleFact|malformed message dropped/.test(gatewayLog().slice(before))) await sleep(20);
    expect(seen.filter(({ id }) => id === 'evt_forged')).toEqual([]);
  });

  it.each([
    ['without a name', {}],
    ['with a wrong password', { user: 'gateway', pass: 'guessed' }],
    ['under a name that there is not', { user: 'exe_mine', pass: '' }],
  ])('a connection to NATS %s', async (_how, login) => {
    const { host } = new URL(rondo.infrastructure.get('nats').url);

    await expect(connect({ servers: host, reconnect: false, ...login })).rejects.toThrow('Authorization');
  });

  it('FLUSHALL on Redis without the password', async () => {
    const { hostname, port } = new URL(rondo.infrastructure.get('redis').url);
    const socket = connectTcp({ host: hostname, port: Number(port) });
    socket.write('FLUSHALL\r\n');

    const [answer] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])));

    expect(String(answer)).toMatch(/^-NOAUTH/);
    socket.destroy();
  });

  it('the password of Redis, of NATS or of Postgres on the command line of a process', () => {
    const lines = rondo.infrastructure.servers.map(({ pid }) => readFileSync(`/proc/${pid ?? 'self'}/cmdline`, 'utf8'));
    const secrets = rondo.infrastructure.servers.map(({ url }) => new URL(url).password);

    expect(secrets.filter((secret) => secret === '' || lines.some((line) => line.includes(secret)))).toEqual([]);
  });
});

const forgedFact = () => ({
  id: 'evt_forged',
  v: 1,
  seq: parkedRun.lastSeq + 1,
  type: 'run.completed',
  run_id: parkedRun.id,
  thread_id: parkedRun.threadId,
  iteration: 1,
  epoch: 1,
  at: new Date().toISOString(),
  data: { finish_reason: 'complete' },
});

const gatewayLog = (): string => readFileSync(join(rondo.directory, 'logs/gateway.log'), 'utf8');

/** How many messages from the store a service has dropped, by its log. */
const countDrops = (instance: string): number =>
  readFileSync(join(rondo.directory, 'logs', `${instance}.log`), 'utf8').split(
    'unsolicited message from a stream dropped',
  ).length;
