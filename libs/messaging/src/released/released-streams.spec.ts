import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StreamConfig, DiscardPolicy } from 'nats';
import { type NatsLink, connectNats } from '../connection/nats-link';
import { OwnNatsServer } from '../testing/own-nats-server';
import { RecordedLog } from '../testing/test-nats';
import { ToolStreams, toolStreamConfigs } from '../tool-calls/tool-streams';

type Config = Partial<StreamConfig> & { name: string };

/** The streams of the previous version, as `npm run record-release` has recorded them. */
const released = JSON.parse(readFileSync(join(__dirname, '../../../../deploy/released-version.json'), 'utf8')) as {
  streams: Config[];
};

/** Every limit differs from what a version may want. */
const withOtherLimits = (config: Config): Config => ({
  ...config,
  max_bytes: 3_000_000,
  max_msg_size: 1_000_000,
  max_age: 60_000_000_000,
  max_msgs: 1_000,
  max_msgs_per_subject: 7,
  max_consumers: -1,
  duplicate_window: 1_000_000_000,
  discard: config.discard === DiscardPolicy.New ? DiscardPolicy.Old : DiscardPolicy.New,
  allow_direct: false,
});

describe('the streams of the previous version', () => {
  let server: OwnNatsServer;
  let owner: NatsLink;
  const links: NatsLink[] = [];
  const connect = async (url: string) => {
    const link = await connectNats({ url, name: 'spec', log: new RecordedLog() });
    links.push(link);
    return link;
  };
  beforeAll(async () => {
    server = await OwnNatsServer.start();
    owner = await connect(server.url);
  });
  afterEach(async () => {
    const { streams } = await new ToolStreams(owner).manager;
    for (const { name } of released.streams) await streams.delete(name).catch(() => undefined);
  });
  afterAll(async () => {
    await Promise.all(links.map((link) => link.close()));
    await server.stop();
  });

  it.each([
    ['as they are', (config: Config) => config],
    ['with every limit changed', withOtherLimits],
  ])('are taken over by the workers of this version under their own permissions, %s', async (_how, changed) => {
    const { streams } = await new ToolStreams(owner).manager;
    for (const config of released.streams) await streams.add(changed(config));
    const taken = new ToolStreams(await connect(server.findUrl('agent-worker')));
    const found = new ToolStreams(await connect(server.findUrl(server.executorId)), { createsStreams: false });

    await taken.ensure();
    await found.ensure();

    expect(taken.problem).toBeUndefined();
    expect(found.remembers(taken.store)).toBe(true);
    for (const config of toolStreamConfigs(owner.names)) {
      expect((await streams.info(config.name)).config).toMatchObject(config);
    }
  });

  it('keep what an operator has set beside the limits', async () => {
    const { streams } = await new ToolStreams(owner).manager;
    for (const config of released.streams) await streams.add({ ...withOtherLimits(config), description: 'ours' });

    await new ToolStreams(await connect(server.findUrl('agent-worker'))).ensure();

    for (const { name } of released.streams) {
      expect((await streams.info(name)).config).toMatchObject({ description: 'ours' });
    }
  });

  it('that may not be changed are reported in words, until they are as they have to be', async () => {
    const { streams } = await new ToolStreams(owner).manager;
    const [calls] = released.streams as [Config];
    const { retention: _, ...other } = calls;
    await streams.add(other); // no update changes how messages are retained
    const worker = new ToolStreams(await connect(server.findUrl('agent-worker')));

    await expect(worker.assertUsable()).rejects.toThrow(/^The call store cannot be used: NATS says ".*retention.*"\.$/);
    expect(worker.problem).toMatch(/^The call store cannot be used/);

    await streams.delete(calls.name);
    await worker.assertUsable();
    expect(worker.problem).toBeUndefined();
  });

  it('that a user has no right to are reported by the subject', async () => {
    const gateway = new ToolStreams(await connect(server.findUrl('gateway')));

    await expect(gateway.assertUsable()).rejects.toThrow(/The call store cannot be used.*STREAM.CREATE/);
  });
});
