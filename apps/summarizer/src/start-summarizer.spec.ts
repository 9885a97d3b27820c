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
  let app: Awaited<ReturnType<typeof startSummarizer>>;

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

  it('fails a job whose data is invalid', async () => {
    const connection = { url: url('TEST_REDIS_URL') };
    const queue = new Queue(queues.compactions.name, { connection });
    const events = new QueueEvents(queues.compactions.name, { connection });
    await events.waitUntilReady();

    const job = await queue.add('compact', { run_id: 'nonsense' }, { removeOnFail: true });

    await expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow('must be an id like run_');
    await events.close();
    await queue.close();
  });
});
