import { type ThreadId, threadId } from '@rondo/contract';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { answerRemovals, requestRemoval } from './remove-workspace';

const thread = threadId.parse('thr_1');
const endless = () => new Promise<void>(() => undefined);

describe('askToForget', () => {
  let corner: TestNats;
  let worker: NatsLink;
  let executor: NatsLink;

  beforeEach(async () => {
    corner = new TestNats();
    [worker, executor] = [await corner.link(), await corner.link()];
  });
  afterEach(() => corner.close());

  const listen = async (forget: (thread: ThreadId) => Promise<void>) => {
    const stop = answerRemovals(executor, 'exe_1', forget);
    await executor.ping();
    return stop;
  };

  it('is told once the executor has forgotten the thread', async () => {
    const forgotten: ThreadId[] = [];
    await listen((id) => Promise.resolve(void forgotten.push(id)));

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(true);
    expect(forgotten).toEqual([thread]);
  });

  it('is told that it is not gone where the executor could not remove it', async () => {
    await listen(() => Promise.reject(new Error('the disk is read-only')));

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(false);
    expect(corner.log.lines).toContain('sandbox could not be removed');
  });

  it('does not take it for gone where nobody listens, nor where another executor does', async () => {
    await listen(() => Promise.resolve());

    expect(await requestRemoval(worker, 'exe_2', thread)).toBe(false);
  });

  it('does not take it for gone while the executor is still at it, and keeps nobody else waiting', async () => {
    const slow = threadId.parse('thr_slow');
    await listen((id) => (id === slow ? endless() : Promise.resolve()));

    const [first, second] = [requestRemoval(worker, 'exe_1', slow), requestRemoval(worker, 'exe_1', thread)];

    expect(await second).toBe(true);
    expect(await first).toBe(false);
  });

  it('does not take it for gone once the executor has stopped listening', async () => {
    const stop = await listen(() => Promise.resolve());

    stop();
    await executor.ping();

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(false);
  });

  it('hears nothing of an executor that has left meanwhile, which does not mind', async () => {
    let finish = (): void => undefined;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await listen(() => new Promise((resolve) => ((finish = resolve), begin())));

    const asked = requestRemoval(worker, 'exe_1', thread);
    await begun;
    await executor.close();
    finish();

    expect(await asked).toBe(false);
  });

  it('says at once that it is not gone while NATS is away', async () => {
    const { link, proxy } = await corner.severableLink();
    await proxy.cut();
    while (link.connected) await new Promise((resolve) => setTimeout(resolve, 5));

    const startedAt = performance.now();

    expect(await requestRemoval(link, 'exe_1', thread)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  it.each(['not json', '{}', '{"thread_id":"../etc"}'])('drops %j', async (words) => {
    const forgotten: ThreadId[] = [];
    await listen((id) => Promise.resolve(void forgotten.push(id)));

    worker.connection.publish(worker.names.sandboxForget('exe_1'), words);
    await worker.ping();

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(true);
    expect(forgotten).toEqual([thread]);
    expect(corner.log.lines).toContain('malformed message dropped');
  });
});
