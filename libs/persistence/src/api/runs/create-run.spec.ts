import { type RunId, type ThreadId, isTerminal } from '@rondo/contract';
import { StoreFixture, completed, newAccount, textInput, started, stopped } from '../../testing/store-fixture';
import type { NewRun } from './create-run';
import { ThreadBusyError } from '../thread-row';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const readStatus = async (runId: RunId) => (await fixture.runs.get({ accountId: fixture.accountId, runId })).status;
const readTypes = async (runId: RunId) =>
  (await fixture.runs.events({ accountId: fixture.accountId, runId }, { after: 0, limit: 100 })).data.map(
    ({ type }) => type,
  );

/** A thread with a run on it that a worker holds. */
async function busyThread() {
  const claim = await fixture.claimed();
  await fixture.store.append(claim, [started]);
  return { claim, threadId: claim.threadId };
}

const onThread = (threadId: NewRun['threadId'], onActiveRun: NewRun['onActiveRun'], text = 'Next.') =>
  fixture.create({ threadId, onActiveRun, input: textInput(text) });

describe('creating a run', () => {
  it('writes the run, its first facts, its input and its job together', async () => {
    const { run, facts, stops } = await fixture.create({ metadata: { ticket: '7' } });

    expect(run).toMatchObject({ status: 'queued', last_seq: 2, epoch: 0, metadata: { ticket: '7' } });
    expect(facts.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'run.created'],
      [2, 'message.created'],
    ]);
    expect(stops).toEqual([]);
    expect(await fixture.published()).toContainEqual({
      topic: 'runs',
      key: `${run.id}-1`,
      payload: { run_id: run.id, thread_id: run.thread_id, activation: 1 },
    });
  });

  it('writes many runs of one moment each with its own rows', async () => {
    const texts = ['one', 'two "quoted"', 'three \\ back\n\u0001'];

    const created = await Promise.all(texts.map((text) => fixture.create({ input: textInput(text) })));

    for (const [index, { run, facts }] of created.entries()) {
      const claim = await fixture.claim(run.id);
      expect(JSON.stringify(claim.log)).toBe(JSON.stringify(facts));
      expect(claim.log[1]).toMatchObject({ data: { message: { content: textInput(texts[index] ?? '') } } });
    }
  });

  it('calls a new thread what the run is called, and leaves the name of another', async () => {
    const { accountId, threads } = fixture;
    const title = async (threadId: ThreadId) => (await threads.get({ accountId, threadId })).title;

    const { run } = await fixture.create({ metadata: { title: ` gaia-17: \0${'x'.repeat(300)}` } });
    const { run: unnamed } = await fixture.create({ metadata: { title: ' ' } });
    await fixture.store.append(await fixture.claim(run.id), [started, completed]);
    await fixture.create({ threadId: run.thread_id, metadata: { title: 'Another.' } });

    expect(await title(run.thread_id)).toBe(`gaia-17: \u{FFFD}${'x'.repeat(190)}`);
    expect(await title(unnamed.thread_id)).toBeNull();
  });

  it('works without an input on a thread that has messages', async () => {
    const { accountId, messages } = fixture;
    const { id: threadId } = await fixture.threads.create({ accountId, metadata: {} });
    await messages.add({ accountId, threadId, content: textInput('Hello.') });

    const { run } = await fixture.create({ threadId, input: undefined });
    const claim = await fixture.claim(run.id);

    expect(claim.log.map(({ type }) => type)).toEqual(['run.created']);
    expect(claim.earlier.map(({ content }) => content)).toEqual([textInput('Hello.')]);
  });

  it('does not see what is said in the thread after it began, though it has no input of its own', async () => {
    const { accountId, messages } = fixture;
    const { id: threadId } = await fixture.threads.create({ accountId, metadata: {} });
    const say = (text: string) => messages.add({ accountId, threadId, content: textInput(text) });
    await say('Before.');
    const { run: first } = await fixture.create({ threadId, input: undefined });
    await say('Between.');
    const claim = await fixture.claim(first.id);
    const { run: second } = await fixture.create({ threadId, input: undefined, onActiveRun: 'queue' });
    await fixture.store.append(claim, [started, completed]);
    await say('After.');

    const readTexts = async (id: RunId) => (await fixture.claim(id)).earlier.map(({ content }) => content);
    expect(claim.earlier.map(({ content }) => content)).toEqual([textInput('Before.')]);
    expect(await readTexts(second.id)).toEqual([textInput('Before.'), textInput('Between.')]);
  });

  it('lets one of 50 win a thread, and names the winner to the others (I9)', async () => {
    const { id: threadId } = await fixture.threads.create({ accountId: fixture.accountId, metadata: {} });

    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => onThread(threadId, 'reject')));

    const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.run.id] : []));
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(winners).toHaveLength(1);
    expect(refusals.every((error) => error instanceof ThreadBusyError && error.activeRunId === winners[0])).toBe(true);
  });

  it('lets 50 queue on a thread while runs on it end, each coming forward once, in order', async () => {
    const { id: threadId } = await fixture.threads.create({ accountId: fixture.accountId, metadata: {} });
    const created = await Promise.all(
      Array.from({ length: 50 }, (_, index) => onThread(threadId, 'queue', `wanted ${index}`)),
    );

    const order: RunId[] = [];
    for (const { run } of [...created].sort((a, b) => (a.run.id < b.run.id ? -1 : 1))) {
      const claims = await Promise.all(created.map((other) => fixture.store.claim(other.run.id, 'worker')));
      const [claim, ...others] = claims.filter((claimed) => claimed !== undefined);
      if (!claim) throw new Error(`no run came forward when ${run.id} was due`);
      expect(others).toEqual([]);
      order.push(claim.runId);
      await fixture.store.append(claim, [started, completed]);
    }

    expect(new Set(order).size).toBe(50);
    expect(order.slice(1)).toEqual([...order.slice(1)].sort());
  });

  it('takes the input of a queued run into the thread when the run comes forward', async () => {
    const { claim, threadId } = await busyThread();
    const { run, facts } = await onThread(threadId, 'queue', 'And then?');
    expect(facts.map(({ type }) => type)).toEqual(['run.created']);
    expect(await fixture.store.claim(run.id, 'worker-2')).toBeUndefined();
    await fixture.published();

    await fixture.store.append(claim, [completed]);

    expect(fixture.promoted.at(-1)).toMatchObject({ run_id: run.id, seq: 2, type: 'message.created' });
    expect(await fixture.published()).toMatchObject([{ key: `${run.id}-1` }]);
    const next = await fixture.claim(run.id);
    expect(next.earlier).toHaveLength(1);
    expect(next.log.map(({ type }) => type)).toEqual(['run.created', 'message.created']);
  });

  it('says that a run without an input came forward, so that its job is published at once', async () => {
    const { claim, threadId } = await busyThread();
    const { run } = await fixture.create({ threadId, input: undefined, onActiveRun: 'queue' });
    const timesBefore = fixture.promotions;

    await fixture.store.append(claim, [completed]);

    expect(fixture.promotions).toBe(timesBefore + 1);
    expect(await fixture.store.claim(run.id, 'worker-2')).toBeDefined();
  });

  it('has the sweeper promote what a crash left behind', async () => {
    const { claim, threadId } = await busyThread();
    const { run } = await onThread(threadId, 'queue');
    await fixture.database.sql.query(
      `update runs set status = 'completed', finished_at = now(), holds_thread = false, lease_owner = null,
        lease_expires_at = null where id = $1`,
      [claim.runId],
    );

    const timesBefore = fixture.promotions;

    await fixture.store.reap();

    expect(fixture.promotions).toBe(timesBefore + 1);
    expect(await fixture.store.claim(run.id, 'worker-2')).toBeDefined();
  });

  it('has the sweeper promote what it can, whatever is wrong with another thread', async () => {
    const stranded = async () => {
      const { claim, threadId } = await busyThread();
      const { run } = await onThread(threadId, 'queue');
      await fixture.database.sql.query(`update runs set finished_at = now(), holds_thread = false where id = $1`, [
        claim.runId,
      ]);
      return run.id;
    };
    const [before, good, after] = [await stranded(), await stranded(), await stranded()];
    const unreadable = `update runs set queued_input = '"no content"' where id = any($1::text[])`;
    await fixture.database.sql.query(unreadable, [[before, after]]);

    await expect(fixture.store.reap()).rejects.toThrow('could not be promoted');

    expect(await fixture.store.claim(good, 'worker-2')).toBeDefined();
    await fixture.database.sql.query('delete from runs where id = any($1::text[])', [[before, after]]);
  });

  it('replaces a held run: it is told to stop, and the new one starts when it has ended', async () => {
    const { claim, threadId } = await busyThread();

    const { run, facts, stops } = await onThread(threadId, 'replace');

    expect(facts.map(({ run_id, type }) => [run_id, type])).toEqual([
      [claim.runId, 'run.stop_requested'],
      [run.id, 'run.created'],
    ]);
    expect(stops).toEqual([{ runId: claim.runId, stop: { requestedAt: expect.any(String), reason: 'replaced' } }]);
    expect(await readStatus(claim.runId)).toBe('stopping');
    expect(await fixture.store.claim(run.id, 'worker-2')).toBeUndefined();
  });

  it('is replaced itself while it waits, by each of those that follow: only the newest begins', async () => {
    const { claim, threadId } = await busyThread();
    const { run: waited } = await onThread(threadId, 'queue');

    const sent = await Promise.all(Array.from({ length: 10 }, () => onThread(threadId, 'replace')));
    const statuses = await Promise.all(sent.map(({ run }) => readStatus(run.id)));
    await fixture.store.append(claim, [stopped('replaced')]);

    expect(statuses.filter((status) => status === 'stopped')).toHaveLength(9);
    const [newest] = sent.filter((_, index) => statuses[index] === 'queued');
    expect(await readStatus(waited.id)).toBe('queued');
    expect(await fixture.store.claim(newest?.run.id ?? waited.id, 'worker-2')).toBeDefined();
    expect(await fixture.store.claim(waited.id, 'worker-2')).toBeUndefined();
  });

  it('replaces an unclaimed run at once', async () => {
    const { run: old } = await fixture.create();

    const { run, stops } = await onThread(old.thread_id, 'replace');

    expect(isTerminal(await readStatus(old.id))).toBe(true);
    expect(await readTypes(run.id)).toEqual(['run.created', 'message.created']);
    expect(stops).toEqual([]);
    expect(await fixture.store.claim(run.id, 'worker-2')).toBeDefined();
  });

  it.each([
    ['is held', async () => busyThread()],
    [
      'no worker holds',
      async () => {
        const { run } = await fixture.create();
        return { claim: undefined, threadId: run.thread_id };
      },
    ],
  ])('comes before those that waited already, where the run that it replaces %s', async (_, make) => {
    const { claim, threadId } = await make();
    const { run: waited } = await onThread(threadId, 'queue');

    const { run } = await onThread(threadId, 'replace');
    if (claim) await fixture.store.append(claim, [stopped('replaced')]);

    expect(await fixture.store.claim(waited.id, 'worker-2')).toBeUndefined();
    const next = await fixture.claim(run.id, 'worker-2');
    await fixture.store.append(next, [completed]);
    expect(await fixture.store.claim(waited.id, 'worker-2')).toBeDefined();
  });

  it('knows no thread that is deleted, unknown or of another account', async () => {
    const { threads, accountId } = fixture;
    const deleted = await threads.create({ accountId, metadata: {} });
    await threads.delete({ accountId, threadId: deleted.id });
    const foreign = await threads.create({ accountId: await newAccount(fixture.database), metadata: {} });

    for (const threadId of [deleted.id, foreign.id, 'thr_nothing' as typeof foreign.id]) {
      for (const onActiveRun of ['reject', 'queue', 'replace'] as const) {
        await expect(onThread(threadId, onActiveRun)).rejects.toMatchObject({ code: 'thread_not_found' });
      }
    }
  });
});
