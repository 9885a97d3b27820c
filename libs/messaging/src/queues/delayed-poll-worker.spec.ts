import { type RunId, runId, threadId } from '@rondo/contract';
import { RecordedLog } from '../testing/test-nats';
import { testRedisUrl } from '../testing/test-redis';
import { queues } from './queues';
import { producerConnection, workerConnection } from './redis-connections';
import { RunQueue } from './run-queue';
import { DelayedPollWorker } from './delayed-poll-worker';

const url = testRedisUrl();
const prefix = `spec${process.pid}x${Math.random().toString(36).slice(2, 10)}`;
const threadJob = { threadId: threadId.parse('thr_1'), activation: 1 };
const runs = (from: number, to: number): RunId[] =>
  Array.from({ length: to - from + 1 }, (_, index) => runId.parse(`run_${from + index}`));

describe('DelayedPollWorker', () => {
  const events: string[] = [];
  const work = { end: (): void => undefined };
  let queue: RunQueue;
  let worker: DelayedPollWorker;

  beforeEach(async () => {
    events.length = 0;
    queue = new RunQueue({ connection: producerConnection(url), log: new RecordedLog(), prefix });
    worker = new DelayedPollWorker(
      queues.runs.name,
      async (job) => {
        events.push(queues.runs.job.parse(job.data).run_id);
        await new Promise<void>((resolve) => (work.end = resolve));
      },
      { ...queues.runs.workerOptions({ concurrency: 4 }), connection: workerConnection(url), prefix },
    );
    const { backend } = worker;
    const [asks, waits] = [backend.moveToActive.bind(backend), backend.waitForJob.bind(backend)];
    backend.moveToActive = (...given) => {
      events.push('polls');
      return asks(...given);
    };
    backend.waitForJob = (...given) => {
      events.push('waits');
      return waits(...given);
    };
    await worker.waitUntilReady();
  });
  afterEach(async () => {
    await worker.close();
    await queue.queue.obliterate({ force: true });
    await queue.close();
  });

  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const count = (wanted: string) => events.filter((event) => event === wanted).length;
  const add = (...ids: RunId[]) => queue.addAll(ids.map((id) => ({ runId: id, ...threadJob })));

  it('polls once for each job that comes alone', async () => {
    await until(() => count('waits') === 1);
    await add(...runs(1, 1));
    await until(() => count('waits') === 2);
    events.length = 0;
    await add(...runs(2, 2));
    await until(() => count('waits') === 1);
    await add(...runs(3, 3));
    await until(() => count('waits') === 2);

    expect(events).toEqual(['polls', 'run_2', 'waits', 'polls', 'run_3', 'waits']);
  });

  it('takes as many jobs as its concurrency allows when several come together, in order', async () => {
    await add(...runs(1, 6));
    await until(() => events.includes('run_4'));
    expect(events.filter((event) => event.startsWith('run_'))).toEqual(['run_1', 'run_2', 'run_3', 'run_4']);

    work.end();
    await until(() => events.includes('run_5'));
    work.end();
    await until(() => events.includes('run_6'));
  });
});
