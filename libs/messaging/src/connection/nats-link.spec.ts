import { OwnNatsServer } from '../testing/own-nats-server';
import { RecordedLog, TestNats, testNatsUrl } from '../testing/test-nats';
import { connectNats } from './nats-link';

describe('NatsLink', () => {
  let nats: TestNats;
  beforeEach(() => (nats = new TestNats()));
  afterEach(() => nats.close());

  it('waits for a server that is not reachable at start', async () => {
    const proxy = await nats.proxy();
    await proxy.cut();
    const connecting = nats.link(proxy.findUrl(testNatsUrl()));

    await proxy.mend();

    const link = await connecting;
    expect(link.connected).toBe(true);
    await link.ping();
  });

  it('fails its ping while the server is away, so that a lost connection is noticed, and reconnects', async () => {
    const { link, proxy } = await nats.severableLink();
    const back = new Promise<void>((resolve) => link.onReconnect(resolve));

    await proxy.cut();
    await expect(link.ping()).rejects.toThrow();
    await proxy.mend();
    await back;

    await link.ping();
    expect(nats.log.lines).toEqual(['nats connected', 'nats connection lost', 'nats reconnected']);
  });

  it('is waited for while it is away, until it is back or the wait is aborted', async () => {
    const { link, proxy } = await nats.severableLink();
    const [never, over] = [new AbortController(), new AbortController()];
    await link.untilConnected(never.signal);

    await proxy.cut();
    await link.ping().catch(() => undefined);
    const back = link.untilConnected(never.signal);
    const left = link.untilConnected(over.signal);
    over.abort();
    await left;
    expect(link.connected).toBe(false);

    await proxy.mend();
    await back;
    expect(link.connected).toBe(true);
  });

  it('logs a right that it lacks once, however often it needs it', async () => {
    const server = await OwnNatsServer.start();
    const log = new RecordedLog();
    const link = await connectNats({ url: server.findUrl('gateway'), name: 'spec', log });

    for (let attempt = 0; attempt < 3; attempt += 1) {
      link.connection.publish('tool.call.of-workers');
      await link.ping();
    }

    expect(log.lines).toEqual(['nats connected', 'nats reported an error']);
    await link.close();
    await server.stop();
  });

  it('sends pending messages before it closes', async () => {
    const [sender, receiver] = [await nats.link(), await nats.link()];
    const subject = sender.names.runEvents('run_1');
    const received = new Promise<string>((resolve) => {
      receiver.connection.subscribe(subject, { max: 1, callback: (_error, message) => resolve(message.string()) });
    });
    await receiver.ping();

    sender.connection.publish(subject, 'pending');
    await sender.close();

    expect(await received).toBe('pending');
    expect(sender.connected).toBe(false);
  });

  it('closes even while the server is away', async () => {
    const { link, proxy } = await nats.severableLink();
    await proxy.cut();

    await link.close();

    expect(link.connection.isClosed()).toBe(true);
  });
});
