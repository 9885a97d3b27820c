import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { type ExecutorLoad, OpenExecutors, announceExecutor } from './open-executors';

const isOpenNow = () => Promise.resolve(true);
const often = { everyMs: 20, validForMs: 200 };
type Announced = Partial<Parameters<typeof announceExecutor>[2]>;
const seldom = { everyMs: 60_000, validForMs: 60_000 };

describe('OpenExecutors', () => {
  let nats: TestNats;
  let executor: NatsLink;
  let leaving: (() => void)[];

  beforeEach(async () => {
    nats = new TestNats();
    executor = await nats.link();
    leaving = [];
  });
  afterEach(async () => {
    leaving.forEach((leave) => leave());
    await nats.close();
  });

  const announce = (id: string, { isOpen = isOpenNow, everyMs = often.everyMs, ...rest }: Announced = {}) => {
    const leave = announceExecutor(executor, id, { isOpen, everyMs, ...rest });
    leaving.push(leave);
    return leave;
  };
  const listen = async (link: NatsLink, validForMs = often.validForMs) => {
    const open = new OpenExecutors(link, validForMs);
    await link.ping();
    return open;
  };
  const drawn = async (open: OpenExecutors, isIt: (id: string | undefined) => boolean) => {
    while (!isIt(open.draw())) await sleep(5);
  };

  it('draws among those that announce that they are open', async () => {
    const open = await listen(await nats.link());
    expect(open.draw()).toBeUndefined();

    announce('exe_1');
    announce('exe_2');
    announce('exe_sick', { isOpen: () => Promise.resolve(false) });

    const ids = new Set<string | undefined>();
    await drawn(open, (id) => ids.add(id).has('exe_1') && ids.has('exe_2'));
    expect(ids).toEqual(new Set([undefined, 'exe_1', 'exe_2']));
  });

  it('draws an executor more often the more capacity it has free, and each at times', async () => {
    const open = await listen(await nats.link(), seldom.validForMs);
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

  it('draws none after it has announced that it leaves', async () => {
    const open = await listen(await nats.link(), seldom.validForMs);
    const leave = announce('exe_1', { everyMs: seldom.everyMs });
    await drawn(open, (id) => id === 'exe_1');

    leave();

    await drawn(open, (id) => id === undefined);
  });

  it('does not announce an executor as open that leaves during its check', async () => {
    const worker = await nats.link();
    const open = await listen(worker, seldom.validForMs);
    let finish = (): void => undefined;
    const leave = announce('exe_1', { isOpen: () => new Promise((resolve) => (finish = () => resolve(true))) });

    leave();
    finish();
    await sleep(0);
    await executor.ping();
    await worker.ping();

    expect(open.draw()).toBeUndefined();
  });

  it('draws none whose announcements have ceased', async () => {
    const open = await listen(await nats.link());
    announce('exe_1', { everyMs: seldom.everyMs });

    await drawn(open, (id) => id === 'exe_1');
    await drawn(open, (id) => id === undefined);
  });

  it('draws none while NATS is away, since it would miss who leaves, and draws again after new announcements', async () => {
    const { link, proxy } = await nats.severableLink();
    const open = await listen(link, seldom.validForMs);
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

  it('receives an announcement at once from an executor that reconnects', async () => {
    const open = await listen(await nats.link(), seldom.validForMs);
    const { link, proxy } = await nats.severableLink();
    await proxy.cut();
    while (link.connected) await sleep(5);
    leaving.push(announceExecutor(link, 'exe_1', { isOpen: isOpenNow, everyMs: seldom.everyMs }));

    await proxy.mend();

    await drawn(open, (id) => id === 'exe_1');
  });

  it('draws among those that restore workspaces of lost executors', async () => {
    const open = await listen(await nats.link(), seldom.validForMs);
    announce('exe_plain', { everyMs: seldom.everyMs });
    announce('exe_adopting', { everyMs: seldom.everyMs, adopts: true });
    const seen = new Set<string | undefined>();
    await drawn(open, (id) => seen.add(id).size === 3);

    expect(new Set(Array.from({ length: 100 }, () => open.drawAdopting()))).toEqual(new Set(['exe_adopting']));
  });

  it('counts as silence only what it would have heard', async () => {
    const { link, proxy } = await nats.severableLink();
    const open = await listen(link);
    await sleep(50);
    expect(open.silentMs('exe_never')).toBeGreaterThanOrEqual(49);

    const leave = announce('exe_1');
    await drawn(open, (id) => id === 'exe_1');
    expect(open.silentMs('exe_1')).toBeLessThan(open.silentMs('exe_never'));
    leave();

    const back = new Promise<void>((resolve) => link.onReconnect(resolve));
    await proxy.cut();
    while (link.connected) await sleep(5);
    expect(open.silentMs('exe_1')).toBe(0);
    const cutAt = performance.now();
    await sleep(50);
    await proxy.mend();
    await back;
    expect(open.silentMs('exe_1')).toBeLessThan(performance.now() - cutAt);
  });

  it.each(['not json', '{}', '{"is_open":"maybe"}'])('drops the malformed announcement %j', async (text) => {
    const open = await listen(await nats.link());

    executor.connection.publish(executor.names.executorOpen('exe_2'), text);
    announce('exe_1');

    await drawn(open, (id) => id === 'exe_1');
    expect(nats.log.lines).toContain('malformed message dropped');
  });
});
