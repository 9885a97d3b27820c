import { type NewFact, type Run, messageId } from '@rondo/contract';
import { type Claim, type WaitingMessage, RunChangedError } from '@rondo/domain';
import { StoreFixture, completed, iterationStarted, started, textInput, waits } from '../../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

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
      expect(await read(toQueued(run))).toMatchObject({ status: 'stopped', started_at: null });
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
    const { type, iteration, data } = completed as Extract<NewFact, { type: 'run.completed' }>;

    await fixture.store.append(claim, [{ type, iteration, data: { ...data, finish_reason: 'max_iterations' } }]);

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

  it('that was withdrawn is not read', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    const runId = toQueued(await tell(claim, 'In blue.'));
    const messages = await fixture.store.waitingMessages(claim);
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId, reason: 'never mind' });

    await expect(fixture.store.append(claim, reads(claim, messages))).rejects.toThrow(RunChangedError);
    expect(await fixture.store.append(claim, [iterationStarted(2)])).toMatchObject([{ seq: 5 }]);
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

  it('begins an ordinary run where no run is active, or the active one was told to stop', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await fixture.runs.requestStop({ accountId: fixture.accountId, runId: claim.runId, reason: null });

    const queued = await tell(claim, 'In blue.');

    expect(queued).not.toHaveProperty('steered');
    expect(queued.id).not.toBe(claim.runId);
  });
});
