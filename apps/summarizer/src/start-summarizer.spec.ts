import type { INestApplication } from '@nestjs/common';
import { queues } from '@rondo/messaging';
import { createLogger } from '@rondo/platform';
import { Queue, QueueEvents } from 'bullmq';
import { environment } from './config';
import { startSummarizer } from './start-summarizer';

function url(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} must name a server to test with`);
  return value;
}

describe('the summarizer', () => {
  let app: INestApplication;

  beforeAll(async () => {
    const config = environment.parse({
      PORT: '0',
      DATABASE_URL: url('TEST_DATABASE_URL'),
      REDIS_URL: url('TEST_REDIS_URL'),
      NATS_URL: url('TEST_NATS_URL'),
    });
    app = await startSummarizer(config, createLogger({ name: 'summarizer-spec', level: 'silent' }));
  });
  afterAll(() => app.close());

  it('is ready when Postgres, Redis and NATS answer', async () => {
    const response = await fetch(`${await app.getUrl()}/health/ready`);

    expect(await response.json()).toEqual({ status: 'ready' });
  });

  it.each([
    ['a compaction, which it cannot make yet', { run_id: 'run_1', thread_id: 'thr_1' }, 'makes no summaries'],
    ['a job that is none', { run_id: 'nonsense' }, 'must be an id like run_'],
  ])('refuses %s, and does not report it as done', async (_what, data, reason) => {
    const connection = { url: url('TEST_REDIS_URL') };
    const queue = new Queue(queues.compactions.name, { connection });
    const events = new QueueEvents(queues.compactions.name, { connection });
    await events.waitUntilReady();

    const job = await queue.add('compact', data, { removeOnFail: true });

    await expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow(reason);
    await events.close();
    await queue.close();
  });
});
