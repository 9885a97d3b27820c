import { threadId } from '@rondo/contract';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { answerHosting, requestHosting } from './workspace-hosting';

const [kept, deleted, stranger] = ['thr_kept', 'thr_deleted', 'thr_stranger'].map((id) => threadId.parse(id));
const asked = [threadId.parse('thr_kept'), threadId.parse('thr_deleted')];

describe('which threads an executor does not host any more', () => {
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
    const at = '2026-02-01T00:00:00.000Z';
    for (const link of [worker, await nats.link()]) {
      answerHosting(link, (executorId, threads, before) => {
        seen.push([executorId, threads, before]);
        const hosting = { at, deleted: threads.filter((thread) => thread !== kept), moved: [] };
        return Promise.resolve({ ...hosting, ...(before !== undefined && { hostedBefore: threads }) });
      });
      await link.ping();
    }

    await expect(requestHosting(executor, 'exe_1', { asked })).resolves.toEqual({ at, deleted: [deleted], moved: [] });
    const before = '2026-01-01T00:00:00.000Z';
    await expect(requestHosting(executor, 'exe_1', { asked, before })).resolves.toMatchObject({ hostedBefore: asked });
    expect(seen).toEqual([
      ['exe_1', asked, undefined],
      ['exe_1', asked, before],
    ]);
  });

  it('is unknown where no worker listens or the database is away', async () => {
    await expect(requestHosting(executor, 'exe_1', { asked })).resolves.toBeUndefined();

    answerHosting(worker, () => Promise.reject(new Error('the database is away')));
    await worker.ping();

    await expect(requestHosting(executor, 'exe_1', { asked })).resolves.toBeUndefined();
    expect(nats.log.lines).toContain('sandbox request failed');
  });

  it('concerns no thread that was not asked about', async () => {
    const named = [stranger, deleted].flatMap((thread) => thread ?? []);
    answerHosting(worker, () => Promise.resolve({ deleted: named, moved: named }));
    await worker.ping();

    await expect(requestHosting(executor, 'exe_1', { asked })).resolves.toEqual({
      deleted: [deleted],
      moved: [deleted],
    });
  });

  it('leaves open what was moved where a worker of an older version answers', async () => {
    answerHosting(worker, () => Promise.resolve({ deleted: [] }));
    await worker.ping();

    await expect(requestHosting(executor, 'exe_1', { asked })).resolves.toEqual({ deleted: [] });
  });
});
