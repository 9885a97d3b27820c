import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { type ExecutorLoad, OpenExecutors, announceExecutor } from './open-executors';

const well = () => Promise.resolve(true);
const often = { everyMs: 20, goodForMs: 200 };
type Announced = Partial<Parameters<typeof announceExecutor>[2]>;
const seldom = { everyMs: 60_000, goodForMs: 60_000 };

describe('OpenExecutors', () => {
  let corner: TestNats;
  let executor: NatsLink;
  let leaving: (() => void)[];

  beforeEach(async () => {
    corner = new TestNats();
    executor = await corner.link();
    leaving = [];
  });
  afterEach(async () => {
    leaving.forEach((leave) => leave());
    await corner.close();
  });

  const announce = (id: string, { isOpen = well, everyMs = often.everyMs, load }: Announced = {}) => {
    const leave = announceExecutor(executor, id, { isOpen, everyMs, ...(load && { load }) });
    leaving.push(leave);
    return leave;
  };
  const listen = async (link: NatsLink, goodForMs = often.goodForMs) => {
    const open = new OpenExecutors(link, goodForMs);
    await link.ping();
    return open;
  };
  const drawn = async (open: OpenExecutors, isIt: (id: string | undefined) => boolean) => {
    while (!isIt(open.draw())) await sleep(5);
  };

  it('draws lots among those that say that they are open', async () => {
    const open = await listen(await corner.link());
    expect(open.draw()).toBeUndefined();

    announce('exe_1');
    announce('exe_2');
    announce('exe_sick', { isOpen: () => Promise.resolve(false) });

    const ids = new Set<string | undefined>();
    await drawn(open, (id) => ids.add(id).has('exe_1') && ids.has('exe_2'));
    expect(ids).toEqual(new Set([undefined, 'exe_1', 'exe_2']));
  });

  it('draws those more often of which more is free, and each now and then', async () => {
    const open = await listen(await corner.link(), seldom.goodForMs);
    const loaded = (running: number, awake = 0): (() => ExecutorLoad) => {
      return () => ({ calls: { running, waiting: 0, slots: 32 }, sandboxes: { awake, max: 128 } });
    };
    const everyMs = seldom.everyMs;
    announce('exe_free', { load: loaded(0), everyMs });
    announce('exe_awake', { load: loaded(0, 128), everyMs });
    announce('exe_busy', { load: loaded(32), everyMs });
    announce('exe_old', { everyMs });
    const seen = new Set<string | undefined>();
    await drawn(open, (id) => seen.add(id).size === 5);

    const many = Array.from({ length: 20_000 }, () => open.draw());

    const share = (id: string) => many.filter((one) => one === id).length / many.length;
    const weights = { exe_free: 33, exe_awake: 17, exe_busy: 1, exe_old: 16 };
    for (const [id, weight] of Object.entries(weights)) expect(share(id)).toBeCloseTo(weight / 67, 1);
    expect(share('exe_busy')).toBeGreaterThan(0);
    expect(share('exe_busy')).toBeLessThan(0.05);
  });

  it('draws none that has left, from its last word on', async () => {
    const open = await listen(await corner.link(), seldom.goodForMs);
    const leave = announce('exe_1', { everyMs: seldom.everyMs });
    await drawn(open, (id) => id === 'exe_1');

    leave();

    await drawn(open, (id) => id === undefined);
  });

  it('hears of one that leaves while it is being tried out only that it left', async () => {
    const worker = await corner.link();
    const open = await listen(worker, seldom.goodForMs);
    let finish = (): void => undefined;
    const leave = announce('exe_1', { isOpen: () => new Promise((resolve) => (finish = () => resolve(true))) });

    leave();
    finish();
    await sleep(0);
    await executor.ping();
    await worker.ping();

    expect(open.draw()).toBeUndefined();
  });

  it('draws none that has gone silent', async () => {
    const open = await listen(await corner.link());
    announce('exe_1', { everyMs: seldom.everyMs });

    await drawn(open, (id) => id === 'exe_1');
    await drawn(open, (id) => id === undefined);
  });

  it('forgets all while NATS is away, as it would not hear who leaves, and hears of them again', async () => {
    const { link, proxy } = await corner.severableLink();
    const open = await listen(link, seldom.goodForMs);
    announce('exe_1', { everyMs: seldom.everyMs });
    await drawn(open, (id) => id === 'exe_1');

    const back = new Promise<void>((resolve) => link.onReconnect(resolve));
    await proxy.cut();
    await drawn(open, (id) => id === undefined);
    await proxy.mend();
    await back;

    expect(open.draw()).toBeUndefined();
    announce('exe_1', { everyMs: often.everyMs });
    await drawn(open, (id) => id === 'exe_1');
  });

  it('is told at once by an executor that comes back to NATS', async () => {
    const open = await listen(await corner.link(), seldom.goodForMs);
    const { link, proxy } = await corner.severableLink();
    await proxy.cut();
    while (link.connected) await sleep(5);
    leaving.push(announceExecutor(link, 'exe_1', { isOpen: well, everyMs: seldom.everyMs }));

    await proxy.mend();

    await drawn(open, (id) => id === 'exe_1');
  });

  it.each(['not json', '{}', '{"is_open":"maybe"}'])('drops %j', async (words) => {
    const open = await listen(await corner.link());

    executor.connection.publish(executor.names.executorOpen('exe_2'), words);
    announce('exe_1');

    await drawn(open, (id) => id === 'exe_1');
    expect(corner.log.lines).toContain('malformed message dropped');
  });
});
