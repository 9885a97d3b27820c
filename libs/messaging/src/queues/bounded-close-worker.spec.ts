import { setTimeout as sleep } from 'node:timers/promises';
import { runId, threadId } from '@rondo/contract';
import { createLogger, newUlid } from '@rondo/platform';
import { Redis } from 'ioredis';
import { SeverableProxy } from '../testing/severable-proxy';
import { testRedisUrl } from '../testing/test-redis';
import { BoundedCloseWorker } from './bounded-close-worker';
import { queues } from './queues';
import { producerConnection, workerConnection } from './redis-connections';
import { RunQueue } from './run-queue';

const url = testRedisUrl();
const log = createLogger({ name: 'bounded-close-worker-spec', level: 'silent' });
const aRun = { runId: runId.parse('run_1'), threadId: threadId.parse('thr_1'), activation: 1 };

describe('BoundedCloseWorker', () => {
  const { hostname, port } = new URL(url);
  let proxy: SeverableProxy;
  let prefix: string;
  let queue: RunQueue;
  beforeEach(async () => {
    prefix = `spec${newUlid()}`;
    proxy = new SeverableProxy({ host: hostname, port: Number(port) });
    await proxy.mend();
    queue = new RunQueue({ connection: producerConnection(url), log, prefix });
  });
  afterEach(async () => {
    await queue.queue.obliterate({ force: true });
    await queue.close();
    await proxy.close();
  });

  const createWorker = (process: () => Promise<void>, via = proxy) => {
    const connection = { ...workerConnection(via.findUrl(url)), retryStrategy: () => 3_600_000 };
    const options = { ...queues.runs.workerOptions({ concurrency: 1 }), connection, prefix };
    return new BoundedCloseWorker(queues.runs.name, process, options).on('error', () => undefined);
  };

  it('closes while its connections wait to reconnect', async () => {
    const worker = createWorker(() => Promise.resolve());
    await worker.waitUntilReady();
    const lost = new Promise<void>((resolve) => worker.once('ioredis:close', () => resolve()));

    await proxy.cut();
    await lost;

    await worker.close();
  });

  it('reports the job that ends while it closes', async () => {
    const job = heldJob();
    const worker = createWorker(job.process);
    await queue.add(aRun);
    await job.started;

    const closed = worker.close();
    job.end();
    await closed;

    expect(await queue.queue.getActiveCount()).toBe(0);
  });

  it('takes no job after it was paused, although Redis still sees it waiting for one', async () => {
    const slow = new SeverableProxy({ host: hostname, port: Number(port), closeDelayMs: 300 });
    await slow.mend();
    const taken: string[] = [];
    const takes = (name: string) => () => Promise.resolve(void taken.push(name));
    const paused = createWorker(takes('paused'), slow);
    await paused.waitUntilReady();
    const redis = new Redis(url);
    const isWaiting = async () =>
      String(await redis.client('LIST'))
        .split('\n')
        .some((line) => line.includes(`name=${prefix}`) && line.includes('cmd=bzpopmin'));
    while (!(await isWaiting())) await sleep(10);

    const pausing = paused.pause(true);
    await queue.add(aRun);
    const next = createWorker(takes('next'));
    while (taken.length === 0) await sleep(10);
    await pausing;
    await Promise.all([paused.close(), next.close(), redis.quit()]);
    await slow.close();

    expect(taken).toEqual(['next']);
  });

  it('closes although a job does not end', async () => {
    const job = heldJob();
    const worker = createWorker(job.process);
    await queue.add(aRun);
    await job.started;

    await worker.close();

    expect(await queue.queue.getActiveCount()).toBe(1); // another worker finds it stalled
  });
});

function heldJob() {
  let [start, end] = [(): void => undefined, (): void => undefined];
  const started = new Promise<void>((resolve) => (start = resolve));
  const ended = new Promise<void>((resolve) => (end = resolve));
  const process = () => {
    start();
    return ended;
  };
  return { process, started, end: () => end() };
}
