import type { RunId, ThreadId } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import type { ThreadEvent } from './thread-subscriptions';

const gateway = RunningGateway.forSuite();
const other = gateway.anotherForSuite();
const worker = TestWorker.forSuite(gateway);

/** Follows a thread, and tells when an event has arrived. */
async function follow(at: RunningGateway, threadId: ThreadId, after = { place: 1, seq: 0 }) {
  const received: ThreadEvent[] = [];
  const waiting = new Set<() => void>();
  const leaving = new AbortController();
  const { rows } = await at.database.sql
    .query<{ account_id: never }>('select account_id from threads where id = $1', [threadId])
    .then((found) => ({ rows: found }));
  const sink = {
    send: (event: ThreadEvent) => {
      received.push(event);
      for (const check of waiting) check();
      return true;
    },
    waitUntilDrained: () => Promise.resolve(),
  };
  const thread = { accountId: rows[0]?.account_id as never, threadId };
  const ending = at.parts.threadSubscriptions.subscribe(thread, { after, sink, signal: leaving.signal });
  const until = (type: string, runId: RunId): Promise<void> =>
    new Promise((resolve) => {
      const check = () => {
        if (!received.some(({ event, run }) => event.type === type && run.id === runId)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { received, ending, until, leave: () => leaving.abort() };
}

const facts = (events: readonly ThreadEvent[]) =>
  events.flatMap(({ place, event }) => (event.seq === null ? [] : [`${place}.${event.seq} ${event.type}`]));

describe('a subscription to a thread', () => {
  it('has the events of all runs in one order, also of those that another gateway creates later', async () => {
    const first = await gateway.createRun();
    const threads = [await follow(gateway, first.thread_id), await follow(other, first.thread_id)] as const;
    const second = await other.createRun({ input: 'And?', thread_id: first.thread_id, on_active_run: 'queue' });
    const one = await worker.claim(first.id);
    one.streamText('Hello.');
    await one.finishMessage();
    await one.complete();
    await (await worker.claim(second.id)).complete();
    const third = await gateway.createRun({ input: 'More?', thread_id: first.thread_id });
    await (await worker.claim(third.id)).complete();
    await Promise.all(threads.map(({ until }) => until('run.completed', third.id)));

    const expected = [
      '1.1 run.created', '1.2 message.created', '1.3 run.started', '1.4 message.created', '1.5 run.completed',
      '2.1 run.created', '2.2 message.created', '2.3 run.started', '2.4 run.completed',
      '3.1 run.created', '3.2 message.created', '3.3 run.started', '3.4 run.completed',
    ]; // prettier-ignore
    for (const { received } of threads) expect(facts(received)).toEqual(expected);
    for (const { leave, ending } of threads) {
      leave();
      expect(await ending).toBe('closed');
    }
    const late = await follow(other, first.thread_id, { place: 2, seq: 3 });
    await late.until('run.completed', third.id);
    expect(facts(late.received)).toEqual(expected.slice(8));
    late.leave();
  });

  it('finds by itself a run whose news was lost', async () => {
    const first = await gateway.createRun();
    await (await worker.claim(first.id)).complete();
    const thread = await follow(gateway, first.thread_id);
    await thread.until('run.completed', first.id);
    const second = await gateway.createRun({ input: 'Unheard.', thread_id: first.thread_id });
    await thread.until('run.created', second.id); // no worker has it, and so none announces it
    thread.leave();
    expect(await thread.ending).toBe('closed');
  });

  it('leaves out a run that never began', async () => {
    const first = await gateway.createRun();
    const queued = await gateway.createRun({ input: 'x', thread_id: first.thread_id, on_active_run: 'queue' });
    await gateway.as().post(`/v1/runs/${queued.id}/stop`).expect(202);
    await (await worker.claim(first.id)).complete();
    const last = await gateway.createRun({ input: 'Last.', thread_id: first.thread_id });
    await (await worker.claim(last.id)).complete();
    const thread = await follow(gateway, first.thread_id);
    await thread.until('run.completed', last.id);
    expect(thread.received.map(({ run }) => run.id)).not.toContain(queued.id);
    expect(thread.received.at(-1)).toMatchObject({ place: 2, run: { id: last.id } });
    thread.leave();
  });

  it('ends with its thread', async () => {
    const run = await gateway.createRun();
    await (await worker.claim(run.id)).complete();
    const thread = await follow(gateway, run.thread_id);
    await thread.until('run.completed', run.id);
    await gateway.as().delete(`/v1/threads/${run.thread_id}`).expect(204);
    expect(await thread.ending).toBe('deleted');
    const late = await follow(gateway, run.thread_id);
    expect(await late.ending).toBe('deleted');
    expect(late.received).toEqual([]);
  });
});
