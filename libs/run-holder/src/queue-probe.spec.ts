import { runId, threadId } from '@rondo/contract';
import { Worker } from 'bullmq';
import { RunQueue, producerConnection, queues, workerConnection } from '@rondo/messaging';
import { SeverableProxy } from '@rondo/messaging/testing';
import { createLogger, newUlid } from '@rondo/platform';
import { QueueProbe } from './queue-probe';

const url = process.env['TEST_REDIS_URL'];
if (url === undefined) throw new Error('TEST_REDIS_URL must name a Redis server');
const prefix = `spec${newUlid()}`;
const log = createLogger({ name: 'queue-probe-spec', level: 'silent' });

describe('QueueProbe', () => {
  const { hostname, port } = new URL(url);
  const proxy = new SeverableProxy({ host: hostname, port: Number(port) });
  const processed: string[] = [];
  let worker: Worker;
  let queue: RunQueue;

  beforeAll(async () => {
    await proxy.mend();
    const connection = { ...workerConnection(proxy.findUrl(url)), socketTimeout: 500 };
    const options = { ...queues.runs.workerOptions({ concurrency: 1 }), connection, prefix, drainDelay: 0.2 };
    const processJob = ({ id }: { id?: string | undefined }) => Promise.resolve(void processed.push(id ?? ''));
    worker = new Worker(queues.runs.name, processJob, options);
    worker.on('error', () => undefined);
    queue = new RunQueue({ connection: producerConnection(url), log, prefix });
    await worker.waitUntilReady();
  });
  afterAll(async () => {
    await worker.close(true);
    await queue.queue.obliterate({ force: true });
    await queue.close();
    await proxy.close();
  });

  it('does not answer while the connection is half-open, and answers once the worker has reconnected', async () => {
    const probe = new QueueProbe(() => worker, 200);
    const until = async (wanted: boolean) => {
      while ((await probe.answers()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    expect(await probe.answers()).toBe(true);

    proxy.silence();
    await until(false);
    await queue.add({ runId: runId.parse('run_1'), threadId: threadId.parse('thr_1'), activation: 1 });
    proxy.speak();
    await until(true);
    while (processed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));

    expect(processed).toEqual(['run_1-1']);
  });
});
