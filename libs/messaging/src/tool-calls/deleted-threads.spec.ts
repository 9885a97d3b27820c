import { threadId } from '@rondo/contract';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { answerDeletedThreads, requestDeletedThreads } from './deleted-threads';

const [kept, deleted, stranger] = ['thr_kept', 'thr_deleted', 'thr_stranger'].map((id) => threadId.parse(id));
const asked = [threadId.parse('thr_kept'), threadId.parse('thr_deleted')];

describe('which threads were deleted', () => {
  let nats: TestNats;
  let worker: NatsLink;
  let executor: NatsLink;

  beforeEach(async () => {
    nats = new TestNats();
    [worker, executor] = [await nats.link(), await nats.link()];
  });
  afterEach(() => nats.close());

  it('is answered by one of the workers', async () => {
    const seen: unknown[] = [];
    for (const link of [worker, await nats.link()]) {
      answerDeletedThreads(link, (threads) => {
        seen.push(threads);
        return Promise.resolve(threads.filter((thread) => thread !== kept));
      });
      await link.ping();
    }

    await expect(requestDeletedThreads(executor, 'exe_1', asked)).resolves.toEqual([deleted]);
    expect(seen).toEqual([asked]);
  });

  it('is unknown where no worker listens or the database is away', async () => {
    await expect(requestDeletedThreads(executor, 'exe_1', asked)).resolves.toBeUndefined();

    answerDeletedThreads(worker, () => Promise.reject(new Error('the database is away')));
    await worker.ping();

    await expect(requestDeletedThreads(executor, 'exe_1', asked)).resolves.toBeUndefined();
    expect(nats.log.lines).toContain('sandbox request failed');
  });

  it('concerns no thread that was not asked about', async () => {
    answerDeletedThreads(worker, () => Promise.resolve([stranger, deleted].flatMap((thread) => thread ?? [])));
    await worker.ping();

    await expect(requestDeletedThreads(executor, 'exe_1', asked)).resolves.toEqual([deleted]);
  });
});
