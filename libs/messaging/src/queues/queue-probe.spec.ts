import { runId, threadId } from '@rondo/contract';
import { Worker } from 'bullmq';
import { SeverableProxy } from '../testing/severable-proxy';
import { RecordedLog } from '../testing/test-nats';
import { testRedisUrl } from '../testing/test-redis';
import { QueueProbe } from './queue-probe';
import { queues } from './queues';
import { producerConnection, workerConnection } from './redis-connections';
import { RunQueue } from './run-queue';

const url = testRedisUrl();
const prefix = `spec${process.pid}x${Math.random().toString(36).slice(2, 10)}`;

describe('QueueProbe', () => {
  const { hostname, port } = new URL(url);
  const proxy = new SeverableProxy({ host: hostname, port: Number(port) });
  const taken: string[] = [];
  let worker: Worker;
  let queue: RunQueue;

  beforeAll(async () => {
    await proxy.mend();
    const connection = { ...workerConnection(proxy.urlOf(url)), socketTimeout: 500 };
    const options = { ...queues.runs.workerOptions({ concurrency: 1 }), connection, prefix, drainDelay: 0.2 };
    const take = ({ id }: { id?: string | undefined }) => Promise.resolve(void taken.push(id ?? ''));
    worker = new Worker(queues.runs.name, take, options);
    worker.on('error', () => undefined);
    queue = new RunQueue({ connection: producerConnection(url), log: new RecordedLog(), prefix });
    await worker.waitUntilReady();
  });
  afterAll(async () => {
    await worker.close(true);
    await queue.queue.obliterate({ force: true });
    await queue.close();
    await proxy.close();
  });

  it('falls silent with a connection that is half-open, and the worker makes a new one by itself (R11)', async () => {
    const canary = new QueueProbe(() => worker, 200);
    const until = async (wanted: boolean) => {
      while ((await canary.answers()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    expect(await canary.answers()).toBe(true);

    proxy.silence();
    await until(false);
    await queue.add({ runId: runId.parse('run_1'), threadId: threadId.parse('thr_1'), activation: 1 });
    proxy.speak();
    await until(true);
    while (taken.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));

    expect(taken).toEqual(['run_1-1']);
  }, 20_000);
});
