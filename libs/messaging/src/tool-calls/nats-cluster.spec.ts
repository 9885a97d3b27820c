import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueCertificates } from '../../../../deploy/local/servers/issue-certificates.mjs';
import { type StreamAPI, connect } from 'nats';
import { connectNats } from '../connection/nats-link';
import { natsLogin } from '../connection/nats-login';
import { NatsCluster } from '../testing/nats-cluster';
import { RecordedLog, createToolStreams } from '../testing/test-nats';
import { ToolCallFixture, aCall, answered, never } from '../testing/tool-call-fixture';
import { ToolStreams } from './tool-streams';

describe('a NATS cluster of three', () => {
  let cluster: NatsCluster;
  let fixture: ToolCallFixture;
  beforeAll(async () => {
    cluster = await NatsCluster.start();
    fixture = new ToolCallFixture(cluster.findUrl());
  });
  afterAll(async () => {
    await fixture.close();
    await cluster.stop();
  });

  /** A cluster refuses streams until its nodes have found each other. */
  async function ensure(streams: ToolStreams): Promise<void> {
    while (!(await streams.ensure().then(Boolean.bind(undefined, true), () => false))) await sleep(20);
  }

  /** A cluster that elects a leader answers nothing for a while. */
  async function deleteAll(streams: StreamAPI): Promise<void> {
    try {
      for (const { config } of await streams.list().next()) await streams.delete(config.name);
    } catch {
      await sleep(20);
      await deleteAll(streams);
    }
  }

  it('keeps the streams on three servers, as a worker with its own rights has asked for', async () => {
    const log = new RecordedLog();
    const worker = await connectNats({ url: cluster.findUrl('agent-worker'), name: 'spec', log });

    await ensure(new ToolStreams(worker, { replicas: 3 }));
    await new ToolStreams(worker).ensure(); // one without the setting changes nothing

    const found = await (
      await createToolStreams(await fixture.nats.link()).manager
    ).streams.info(worker.names.toolCalls.stream);
    expect(found.config.num_replicas).toBe(3);
    await worker.close();
  });

  it('is the same store for all workers, also where they create its streams at once', async () => {
    const log = new RecordedLog();
    const url = cluster.findUrl('agent-worker');
    const workers = await Promise.all(['a', 'b', 'c'].map((name) => connectNats({ url, name, log })));
    const { streams } = await createToolStreams(await fixture.nats.link()).manager;
    for (let round = 1; round <= 10; round += 1) {
      await deleteAll(streams);

      const stores = workers.map((worker) => new ToolStreams(worker, { replicas: 3 }));
      await Promise.all(stores.map(ensure));

      expect(stores.map((one) => stores.every(({ store }) => one.remembers(store)))).toEqual([true, true, true]);
    }
    await Promise.all(workers.map((worker) => worker.close()));
  });

  it('loses and doubles no call when the server that leads the queue is killed', async () => {
    const link = await fixture.nats.link();
    const streams = createToolStreams(link);
    await ensure(new ToolStreams(link, { replicas: 3 }));
    const runs: string[] = [];
    await fixture.executor(({ call_id: id }) => {
      runs.push(id);
      return Promise.resolve(answered(id));
    });
    const call = aCall('unsafe');
    const tools = await fixture.worker(call.run_id);
    const execute = async (count: number) => {
      const calls = Array.from({ length: count }, () => ({ ...aCall('unsafe'), run_id: call.run_id }));
      const answers = await Promise.all(calls.map((one) => tools.execute(one, never)));
      return { ids: calls.map(({ id }) => id), answers };
    };
    const before = await execute(8);
    const { cluster: raft } = await (await streams.manager).streams.info(link.names.toolCalls.stream);

    const during = execute(8);
    await cluster.node(`${raft?.leader}`).kill();
    const after = await execute(8);

    const all = [before, await during, after];
    const sent = all.flatMap(({ ids }) => ids);
    expect(new Set(runs).size).toBe(runs.length);
    const results = all.flatMap(({ answers }) => answers);
    expect(results.filter(({ how }) => how === 'unknown')).toEqual([]);
    expect([...runs].sort()).toEqual([...sent].sort());
  });
});

describe('a NATS server that wants certificates of a private authority', () => {
  const directory = mkdtempSync(join(tmpdir(), 'nats-tls-'));
  const file = (name: string) => join(directory, name);
  let server: NatsCluster;
  beforeAll(async () => {
    issueCertificates(directory);
    const tls = { ca: file('ca.pem'), certificate: file('server.pem'), key: file('server.key') };
    server = await NatsCluster.start({ size: 1, tls });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  it('takes a service with the files that its URL names', async () => {
    const log = new RecordedLog();
    const parameters = `?sslrootcert=${file('ca.pem')}&sslcert=${file('client.pem')}&sslkey=${file('client.key')}`;

    const link = await connectNats({ url: `${server.findUrl('gateway', 'tls')}${parameters}`, name: 'spec', log });

    await link.ping();
    expect(link.connection.info?.tls_required).toBe(true);
    await link.close();
  });
});

it('a URL with tls:// refuses a NATS server without TLS', async () => {
  const server = await NatsCluster.start({ size: 1 });
  const { port } = server.nodes[0] ?? { port: 0 };
  const options = { ...natsLogin(`tls://127.0.0.1:${port}`), waitOnFirstConnect: false, reconnect: false };
  const reason = async () =>
    connect(options).then(
      () => 'connected',
      (error: unknown) => String(error),
    );

  let refusal = await reason();
  while (refusal.includes('REFUSED')) refusal = await reason(); // it is not up yet

  expect(refusal).toContain('tls');
  await server.stop();
});
