import { setTimeout as sleep } from 'node:timers/promises';
import { TestNats } from '../testing/test-nats';
import { WorkSignal } from './work-signal';

describe('WorkSignal', () => {
  let nats: TestNats;
  beforeEach(() => (nats = new TestNats()));
  afterEach(() => nats.close());

  const until = async (holds: () => boolean) => {
    while (!holds()) await sleep(5);
  };

  it('reaches every process, once for many announcements of a second', async () => {
    const link = nats.link();
    const [gateway, worker] = [new WorkSignal(await nats.link()), new WorkSignal(link)];
    const heard = { gateway: 0, worker: 0 };
    gateway.onWork(() => (heard.gateway += 1));
    worker.onWork(() => (heard.worker += 1));
    await until(() => worker.isHeard);
    await (await link).ping();

    gateway.announce();
    gateway.announce();
    await until(() => heard.worker > 0 && heard.gateway > 1);

    expect(heard).toEqual({ gateway: 2, worker: 1 }); // its own once at once, and once from the server
  });

  it('is not heard before there is a connection, and announces without one', () => {
    const signal = new WorkSignal(new Promise<never>(() => undefined));
    let heard = 0;
    signal.onWork(() => (heard += 1));

    signal.announce();

    expect(signal.isHeard).toBe(false);
    expect(heard).toBe(1);
  });
});
