import { type NewFact, type Run, messageId, noUsage } from '@rondo/contract';
import { type Claim, type ClaimedRun, type WaitingMessage, RunChangedError } from '@rondo/domain';
import {
  StoreFixture,
  completed,
  iterationStarted,
  newAccount,
  started,
  textInput,
  waits,
} from '../../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

/** An end that no message keeps from being written. */
const atLimit: NewFact = {
  type: 'run.completed',
  iteration: 1,
  data: { finish_reason: 'max_iterations', usage: noUsage },
};

let count = 0;

/** What the loop writes when it reads messages. */
const reads = ({ threadId, runId }: Claim, messages: readonly WaitingMessage[]): NewFact[] => [
  ...messages.map(({ queuedRun, content }): NewFact => {
    const id = messageId.parse(`msg_told${++count}`);
    const to = { id, thread_id: threadId, run_id: runId, iteration: null, type: 'user', is_llm_message: true } as const;
    const message = { ...to, content: [...content], metadata: { queued_as: queuedRun } };
    return { type: 'message.created', iteration: 1, data: { message } };
  }),
  iterationStarted(2),
];

const tell = async ({ threadId }: Claim, text: string) => {
  const { run } = await fixture.create({ threadId, input: textInput(text), onActiveRun: 'steer' });
  return run;
};

const toQueued = ({ steered }: Run) => {
  if (!steered) throw new Error('no run was steered');
  return steered.queued_run_id;
};

const read = (runId: Run['id']) => fixture.runs.get({ accountId: fixture.accountId, runId });

/** As `retry` does. */
async function askAgain({ runId, threadId }: Claim) {
  const again = await fixture.runs.question({ id: runId, thread_id: threadId });
  const asked = { again, edits: again.messageId, input: undefined };
  return (await fixture.create({ threadId, ...asked, onActiveRun: 'replace' })).run;
}

const readTexts = ({ earlier, log }: ClaimedRun) => [
  ...earlier.map(({ content }) => content),
  ...log.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.content] : [])),
];

describe('what a run was asked and told, asked once more', () => {
  it('is one message, and what followed is withdrawn', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await tell(claim, 'In blue.');
    await fixture.store.append(claim, reads(claim, await fixture.store.waitingMessages(claim)));
    await fixture.store.handOver(claim); // it was told something: the next claim may end it
    await fixture.store.append(await fixture.claim(claim.runId), [completed]);

    const again = await fixture.claim((await askAgain(claim)).id);

    expect(readTexts(again)).toMatchObject([[{ text: 'Go.' }, { text: 'In blue.' }]]);
  });

  it('is what it was asked where it was answered meanwhile: the answer is withdrawn', async () => {
    const { accountId } = fixture;
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, waits]);
    await fixture.runs.answer({ accountId, runId: claim.runId, content: textInput('The blue one.') });
    await fixture.store.append(await fixture.claim(claim.runId), [completed]);

    const again = await fixture.claim((await askAgain(claim)).id);

    expect(readTexts(again)).toMatchObject([[{ text: 'Go.' }]]);
  });

  it('is refused where a person has written on the thread since, with the message that can be edited', async () => {
    const { accountId } = fixture;
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, completed]);
    const { threadId } = claim;
    const { id } = await fixture.messages.add({ accountId, threadId, content: textInput('Hm.') });

    await expect(askAgain(claim)).rejects.toMatchObject({
      ...{ code: 'message_not_newest', message: expect.stringContaining(`${id} is`) as unknown },
    });
  });

  it('is refused where it is more than a message may have', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    for (let told = 0; told < 100; told += 1) await tell(claim, 'In blue.');
    await fixture.store.append(claim, reads(claim, await fixture.store.waitingMessages(claim)));

    await expect(askAgain(claim)).rejects.toMatchObject({ code: 'message_not_newest' });
  });
});

describe('a message to an active run', () => {
  it('is answered with that run, which reads it once, in order, and ends the queued runs with it', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    const told = [await tell(claim, 'In blue.'), await tell(claim, 'And small.')];
    const messages = await fixture.store.waitingMessages(claim);
    expect(await fixture.store.renew('worker-1', [claim])).toMatchObject({ told: [claim.runId] });

    const facts = await fixture.store.append(claim, reads(claim, messages));
    const more = await fixture.store.append(claim, [iterationStarted(3)]);

    expect(told.map(({ id }) => id)).toEqual([claim.runId, claim.runId]);
    expect(messages.map(({ queuedRun }) => queuedRun)).toEqual(told.map(toQueued));
    expect([...facts, ...more].map(({ seq }) => seq)).toEqual([5, 6, 7, 8]);
    expect(await fixture.store.waitingMessages(claim)).toEqual([]);
    for (const run of told) {
      expect(await read(toQueued(run))).toMatchObject({
        ...{ status: 'stopped', started_at: null },
        steers: { run_id: claim.runId, is_read: true },
      });
      expect(fixture.promoted.filter(({ run_id }) => run_id === toQueued(run)).map(({ type }) => type)).toEqual([
        'run.stop_requested',
        'run.stopped',
      ]);
    }
    const { data } = await fixture.messages.list({ accountId: fixture.accountId, threadId: claim.threadId, limit: 50 });
    expect(data.map(({ content }) => content[0])).toMatchObject([
      { text: 'Go.' },
      { text: 'In blue.' },
      { text: 'And small.' },
    ]);
  });

  it('leaves the run that has read it the newest of its thread', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await tell(claim, 'In blue.');
    await fixture.store.append(claim, reads(claim, await fixture.store.waitingMessages(claim)));

    const { newest_run } = await fixture.threads.get({ accountId: fixture.accountId, threadId: claim.threadId });

    expect(newest_run).toMatchObject({ id: claim.runId, status: 'running' });
  });

  it('is not the run that the thread is at, before it is read and after', async () => {
    const claim = await fixture.claimed();
    const thread = { accountId: fixture.accountId, threadId: claim.threadId };
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    const queued = toQueued(await tell(claim, 'In blue.'));
    expect(await fixture.runs.current(thread)).toMatchObject({ id: claim.runId, status: 'running' });
    await fixture.store.append(claim, reads(claim, await fixture.store.waitingMessages(claim)));
    await fixture.store.append(claim, [atLimit]);

    expect(await fixture.runs.current(thread)).toMatchObject({ id: claim.runId, status: 'completed' });
    const list = async (isMessage: boolean) =>
      (await fixture.runs.list({ ...thread, isMessage, limit: 5 })).data.map(({ id }) => id);
    expect(await list(false)).toEqual([claim.runId]);
    expect(await list(true)).toEqual([queued]);
  });

  it('is a run of the thread as any other where it begins one', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    const queued = toQueued(await tell(claim, 'In blue.'));
    await fixture.store.append(claim, [atLimit]);

    const current = await fixture.runs.current({ accountId: fixture.accountId, threadId: claim.threadId });
    expect(current).toMatchObject({ id: queued, status: 'queued' });
  });

  it('has the end refused that was decided on without it, and is known to the next claim', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await tell(claim, 'In blue.');

    await expect(fixture.store.append(claim, [completed])).rejects.toThrow(RunChangedError);
    await fixture.store.handOver(claim);
    const next = await fixture.claim(claim.runId);

    expect(next.mayHaveMessages).toBe(true);
    expect(await fixture.store.waitingMessages(next)).toHaveLength(1);
  });

  it('begins a run of its own where the active one ends without having read it', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    const queued = toQueued(await tell(claim, 'In blue.'));

    await fixture.store.append(claim, [atLimit]);

    const next = await fixture.claim(queued);
    expect(next.log.map((fact) => fact.type)).toEqual(['run.created', 'message.created']);
    expect(await fixture.store.waitingMessages(next)).toEqual([]);
  });

  it('waits while the run waits for a person', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, waits]);
    await tell(claim, 'In blue.');
    await fixture.runs.answer({
      accountId: fixture.accountId,
      runId: claim.runId,
      content: textInput('Two.'),
      files: undefined,
    });

    const next = await fixture.claim(claim.runId);

    expect(next.mayHaveMessages).toBe(true);
    expect(await fixture.store.waitingMessages(next)).toHaveLength(1);
  });

  it('stays on the thread for its next run, where the run that has read it is stopped before it answers', async () => {
    const claim = await fixture.claimed();
    const { threadId } = claim;
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await tell(claim, 'In blue.');
    await fixture.store.append(claim, reads(claim, await fixture.store.waitingMessages(claim)));
    await fixture.store.handOver(claim);
    const address = { accountId: fixture.accountId, runId: claim.runId };
    const { run: stopped } = await fixture.runs.requestStop({ ...address, reason: null });

    const { run } = await fixture.create({ threadId, input: textInput('Go on.') });

    expect(stopped.status).toBe('stopped');
    expect(readTexts(await fixture.claim(run.id))).toMatchObject([
      [{ text: 'Go.' }],
      [{ text: 'In blue.' }],
      [{ text: 'Go on.' }],
    ]);
  });

  it('that was withdrawn is not read', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    const runId = toQueued(await tell(claim, 'In blue.'));
    const messages = await fixture.store.waitingMessages(claim);
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId, reason: 'never mind' });

    expect(await read(runId)).toMatchObject({ status: 'stopped', steers: { run_id: claim.runId, is_read: false } });
    await expect(fixture.store.append(claim, reads(claim, messages))).rejects.toThrow(RunChangedError);
    expect(await fixture.store.append(claim, [iterationStarted(2)])).toMatchObject([{ seq: 5 }]);
  });

  it('that was withdrawn in any words is not read, also in those of one that is', async () => {
    const claim = await fixture.claimed();
    const runId = toQueued(await tell(claim, 'In blue.'));
    const reason = `read by ${claim.runId}`;
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId, reason });

    expect(await read(runId)).toMatchObject({ status: 'stopped', steers: { run_id: claim.runId, is_read: false } });
  });

  it('is read by the run, or begins one, however the two race', async () => {
    for (let round = 0; round < 40; round++) {
      const claim = await fixture.claimed();
      await fixture.store.append(claim, [started, iterationStarted(1)]);

      const [ended, answer] = await Promise.all([
        fixture.store.append(claim, [completed]).then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(RunChangedError);
            return false;
          },
        ),
        tell(claim, 'In blue.'),
      ]);

      if (ended) {
        const queued = answer.steered?.queued_run_id ?? answer.id;
        expect(queued).not.toBe(claim.runId);
        await fixture.store.reap();
        expect(await fixture.claim(queued)).toMatchObject({ runId: queued });
      } else {
        expect(answer.id).toBe(claim.runId);
        expect(await fixture.store.waitingMessages(claim)).toHaveLength(1);
      }
    }
  });

  it('counts as an active run of its account once it begins one', async () => {
    const { database } = fixture;
    const accountId = await newAccount(database);
    const { run: active } = await fixture.create({ accountId });
    const count = () => fixture.runs.countActive(accountId, 9);
    await fixture.create({ accountId, threadId: active.thread_id, onActiveRun: 'steer' });
    await fixture.create({ accountId, threadId: active.thread_id, onActiveRun: 'queue' });
    expect(await count()).toBe(2);

    await fixture.runs.requestStop({ accountId, runId: active.id, reason: null });

    expect(await count()).toBe(2);
  });

  it('is refused where a hundred wait for the run', async () => {
    const claim = await fixture.claimed();
    for (let told = 0; told < 100; told += 1) await tell(claim, 'In blue.');

    await expect(tell(claim, 'In red.')).rejects.toMatchObject({ code: 'too_many_active_runs' });

    expect(await fixture.store.waitingMessages(claim)).toHaveLength(100);
  });

  it('begins an ordinary run where no run is active, or the active one was told to stop', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId: claim.runId, reason: null });

    const queued = await tell(claim, 'In blue.');

    expect(queued).not.toHaveProperty('steered');
    expect(queued.id).not.toBe(claim.runId);
  });
});
