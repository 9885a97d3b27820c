import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { type RunId, runId, threadId } from '@rondo/contract';
import { type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { RecordedLog } from '../testing/test-nats';
import { testRedisUrl } from '../testing/test-redis';
import { queues } from './queues';
import { producerConnection, workerConnection } from './redis-connections';
import { RunQueue, RunQueues } from './run-queue';

const url = testRedisUrl();
const run = runId.parse('run_1');
const threadJob = { threadId: threadId.parse('thr_1') };

describe('RunQueue', () => {
  const prefix = `spec${process.pid}x${Math.random().toString(36).slice(2, 10)}`;
  const log = new RecordedLog();
  const workers: Worker[] = [];
  let runs: RunQueue;

  beforeEach(() => (runs = new RunQueue({ connection: producerConnection(url), log, prefix })));
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    await runs.queue.obliterate({ force: true });
    await runs.close();
  });

  /** A worker that records the runs of its jobs, and resolves `done` after `count` of them. */
  function working(count: number, work: (job: Job<unknown>) => Promise<void> = () => Promise.resolve()) {
    const seen: RunId[] = [];
    let enough = (): void => undefined;
    const done = new Promise<void>((resolve) => (enough = resolve));
    const options = {
      ...queues.runs.workerOptions({ concurrency: 4 }),
      connection: workerConnection(url),
      prefix,
    };
    const worker = new Worker<unknown>(
      queues.runs.name,
      async (job) => {
        seen.push(queues.runs.job.parse(job.data).run_id);
        await work(job);
      },
      options,
    );
    const note = () => seen.length >= count && enough();
    worker.on('completed', note).on('failed', note);
    workers.push(worker);
    return { seen, done };
  }

  it('carries ids only (I11)', async () => {
    await runs.add({ runId: run, ...threadJob, activation: 3 });

    const [job] = await runs.queue.getJobs();
    expect(job).toMatchObject({ id: 'run_1-3' });
    expect(job?.data).toEqual({ run_id: 'run_1', thread_id: 'thr_1' });
  });

  it('adds one job for an activation that is added twice', async () => {
    await runs.add({ runId: run, ...threadJob, activation: 1 });
    await runs.addAll([
      { runId: run, ...threadJob, activation: 1 },
      { runId: runId.parse('run_2'), ...threadJob, activation: 1 },
    ]);

    expect(await runs.waiting()).toBe(2);
  });

  it('adds another job for the next activation, and for the same one once its job is finished', async () => {
    const { seen, done } = working(3);

    await runs.add({ runId: run, ...threadJob, activation: 1 });
    await settled(runs);
    await runs.add({ runId: run, ...threadJob, activation: 2 });
    await settled(runs);
    await runs.add({ runId: run, ...threadJob, activation: 2 });
    await done;

    expect(seen).toEqual([run, run, run]);
  });

  it('removes a failed job, which would block its id, and does not retry it', async () => {
    const { seen, done } = working(1, () => Promise.reject(new Error('the database is away')));

    await runs.add({ runId: run, ...threadJob, activation: 1 });
    await done;
    await settled(runs);

    expect(seen).toEqual([run]);
    expect(await runs.queue.getJobCounts()).toMatchObject({ failed: 0, waiting: 0, delayed: 0, active: 0 });
  });

  it('bounds its event stream, which would fill Redis', async () => {
    await runs.ping();
    await runs.addAll(Array.from({ length: 3_000 }, (_, activation) => ({ runId: run, ...threadJob, activation })));

    const redis = new Redis(url);
    const length = await redis.xlen(runs.queue.toKey('events'));
    await redis.quit();
    expect(length).toBeLessThan(1_200); // Redis trims in whole nodes
  });

  it('keeps the jobs of workers and summarizers apart', async () => {
    const both = new RunQueues({ connection: producerConnection(url), log, prefix });
    await both.add('compactions', { runId: run, ...threadJob, activation: 1 });

    expect([await both.runs.waiting(), await both.compactions.waiting()]).toEqual([0, 1]);
    await both.compactions.queue.obliterate({ force: true });
    await both.close();
  });

  it('refuses a Redis in cluster mode, also where it was away before, and takes any other', async () => {
    const cluster = await clusterIn(url);
    const queue = new RunQueue({ connection: producerConnection(cluster.url), log, prefix });

    await expect(queue.refuseClusterMode()).rejects.toThrow('cluster mode');
    await expect(queue.add({ runId: run, ...threadJob, activation: 1 })).rejects.toThrow('cluster mode');
    await expect(runs.refuseClusterMode()).resolves.toBeUndefined();

    await queue.close();
    cluster.close();
  });

  it('rejects within seconds when Redis is not reachable, instead of hanging', async () => {
    const nowhere = new RunQueue({ connection: producerConnection('redis://127.0.0.1:1'), log });

    await expect(nowhere.ping()).rejects.toThrow();

    await nowhere.close();
  }, 10_000);
});

/** A proxy to a server that then says of itself that it is in cluster mode. */
async function clusterIn(serverUrl: string) {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).on('close', () => near.destroy());
    far.on('data', (chunk: Buffer) =>
      near.write(chunk.toString('latin1').replace('cluster_enabled:0', 'cluster_enabled:1'), 'latin1'),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: ownPort } = server.address() as AddressInfo; // it listens on TCP
  const close = () => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  };
  return { url: Object.assign(new URL(serverUrl), { port: ownPort }).href, close };
}

async function settled({ queue }: RunQueue): Promise<void> {
  const unfinished = async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed')) > 0;
  while (await unfinished()) await new Promise((resolve) => setTimeout(resolve, 5));
}
