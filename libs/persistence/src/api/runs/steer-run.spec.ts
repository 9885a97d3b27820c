import { type NewFact, type RecordedFact, callIdAt, messageId, partIdAt } from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import {
  type Planned,
  StoreFixture,
  completed,
  iterationStarted,
  planned,
  reply,
  textInput,
  started,
  waits,
} from '../../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const stop = ({ id, runId = id }: { id?: Claim['runId']; runId?: Claim['runId'] | undefined }, reason = 'enough') => {
  if (!runId) throw new Error('which run?');
  return fixture.runs.requestStop({ accountId: fixture.accountId, runId, reason });
};

function answeredCall({ data: { tool_call } }: Planned): NewFact[] {
  const about = { tool_call_id: tool_call.id, name: tool_call.name };
  const answer = { result: { success: true, output: '' }, duration_ms: 1, message_id: messageId.parse('msg_1') };
  return [
    { type: 'tool.started', iteration: 1, data: { ...about, attempt: 1, store: null } },
    { type: 'tool.completed', iteration: 1, data: { ...about, ...answer } },
  ];
}

const withdrawn = (facts: readonly RecordedFact[]): string[] =>
  facts.flatMap((fact) => (fact.type === 'iteration.restarted' ? fact.data.withdrawn_stream_ids : []));

const listTypes = (facts: readonly { type: string }[]) => facts.map(({ type }) => type);

describe('a stop request', () => {
  it('ends a run without a claim in the same transaction, with a receipt (I7)', async () => {
    const { run } = await fixture.create();

    const { run: stopped, facts, changed } = await stop(run);

    expect(changed).toBe(true);
    expect(listTypes(facts)).toEqual(['run.stop_requested', 'run.stopped']);
    expect(facts[1]).toMatchObject({
      data: { reason: 'enough', receipt: { tools_stopped: [], tokens_after_stop: 0 } },
    });
    expect(stopped).toMatchObject({ status: 'stopped', finish_reason: 'stopped', last_seq: 4 });
    expect(await fixture.store.claim(run.id, 'worker-1')).toBeUndefined();
  });

  it('ends a run that waits for a person', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, waits]);

    const { run } = await stop(claim);

    expect(run).toMatchObject({ status: 'stopped', waiting: null });
  });

  it('tells the holder of a run, once, and keeps the first reason', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started]);

    const first = await stop(claim, 'first');
    const second = await stop(claim, 'second');

    expect(first.run.status).toBe('stopping');
    expect(listTypes(first.facts)).toEqual(['run.stop_requested']);
    expect(second).toMatchObject({
      changed: false,
      facts: [],
      run: { stop_requested_at: first.run.stop_requested_at },
      stops: [{ runId: claim.runId, stop: { requestedAt: first.run.stop_requested_at, reason: 'first' } }],
    });
    expect((await fixture.store.renew('worker-1', [claim])).stops).toMatchObject([{ stop: { reason: 'first' } }]);
  });

  it('leaves a run that is over as it is (I2)', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, completed]);

    expect(await stop(claim)).toMatchObject({
      changed: false,
      facts: [],
      stops: [],
      run: { status: 'completed' },
    });
  });

  it('leaves the end of an unheld run with open calls to a worker, which answers them (I6)', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, planned(claim, { name: 'execute_command' })]);
    await fixture.store.handOver(claim);

    const { run, facts } = await stop(claim);

    expect(run.status).toBe('stopping');
    expect(listTypes(facts)).toEqual(['run.stop_requested']);
    expect((await fixture.claim(claim.runId, 'worker-2')).stop).toMatchObject({ reason: 'enough' });
  });

  it.each(['execute_command', 'bash', 'browser_navigate_to', 'tickets__create'])(
    'leaves the end of a run that waits to a worker where %s may have left something running (I7)',
    async (name) => {
      const claim = await fixture.claimed();
      const call = planned(claim, { name });
      await fixture.store.append(claim, [started, call, ...answeredCall(call), waits]);
      await fixture.published();

      const { run, facts } = await stop(claim);

      expect(run.status).toBe('stopping');
      expect(listTypes(facts)).toEqual(['run.stop_requested']);
      expect(await fixture.published()).toMatchObject([{ topic: 'runs', payload: { run_id: claim.runId } }]);
      expect((await fixture.claim(claim.runId, 'worker-2')).stop).toMatchObject({ reason: 'enough' });
    },
  );

  it('withdraws what was shown of a reply before its worker died (I13)', async () => {
    const claim = await fixture.claimed();
    const begun = iterationStarted(1);
    await fixture.store.append(claim, [started, begun]);
    await fixture.store.handOver(claim);

    const { facts, run } = await stop(claim);

    expect(run.status).toBe('stopped');
    expect(listTypes(facts)).toEqual(['run.stop_requested', 'iteration.restarted', 'run.stopped']);
    const shown = begun.data.message_id;
    expect(withdrawn(facts)).toEqual(expect.arrayContaining([shown, callIdAt(shown, 0)]));
  });

  it('keeps the part of a reply that is stored, and withdraws the rest (I13)', async () => {
    const claim = await fixture.claimed();
    const begun = iterationStarted(1);
    const { message_id: id } = begun.data;
    await fixture.store.append(claim, [started, begun, reply(claim, 'a\0b \ud800 "\\u0000"', id)]);
    await fixture.store.handOver(claim);

    const { facts } = await stop(claim);

    expect(listTypes(facts)).toEqual(['run.stop_requested', 'iteration.restarted', 'run.stopped']);
    expect(withdrawn(facts)).toContain(partIdAt(id, 1));
    expect(withdrawn(facts)).not.toContain(id);
  });

  it('withdraws nothing of a reply that is whole', async () => {
    const claim = await fixture.claimed();
    const begun = iterationStarted(1);
    const whole = reply(claim, 'Which?', begun.data.message_id);
    const done: NewFact = { type: 'iteration.completed', iteration: 1, data: { iteration: 1, finish_reason: 'ask' } };
    await fixture.store.append(claim, [started, begun, whole, done, waits]);

    expect(listTypes((await stop(claim)).facts)).toEqual(['run.stop_requested', 'run.stopped']);
  });

  it('ends a run that waits where it has only read files', async () => {
    const claim = await fixture.claimed();
    const call = planned(claim, { name: 'read_file' });
    await fixture.store.append(claim, [started, call, ...answeredCall(call), waits]);

    expect(await stop(claim)).toMatchObject({ run: { status: 'stopped' } });
  });

  it('frees the thread for the run behind, and ends a run behind without touching the one ahead', async () => {
    const { run: ahead } = await fixture.create();
    const queued = { threadId: ahead.thread_id, onActiveRun: 'queue' as const };
    const [{ run: second }, { run: third }] = [await fixture.create(queued), await fixture.create(queued)];

    expect(await stop(second)).toMatchObject({ run: { status: 'stopped' }, facts: [{}, {}] });
    const { facts } = await stop(ahead);

    expect(facts.map(({ run_id, type }) => [run_id, type])).toEqual([
      [ahead.id, 'run.stop_requested'],
      [ahead.id, 'run.stopped'],
      [third.id, 'message.created'],
    ]);
  });

  it('and an ending that race leave one end in the log (I3)', async () => {
    for (let round = 0; round < 20; round += 1) {
      const claim = await fixture.claimed();

      await Promise.allSettled([stop(claim), fixture.store.append(claim, [completed])]);

      const { status } = await fixture.runs.get({ accountId: fixture.accountId, runId: claim.runId });
      expect(['completed', 'stopping']).toContain(status);
    }
  });

  it('takes a reason that a column cannot hold', async () => {
    const claim = await fixture.claimed();

    const { facts } = await stop(claim, 'no\0w\ud800');

    expect(facts).toMatchObject([{ data: { reason: 'no\0w\ud800' } }]);
  });
});

describe('an answer', () => {
  const answer = ({ runId }: Claim, text = 'The blue one.') =>
    fixture.runs.answer({ accountId: fixture.accountId, runId, content: textInput(text) });

  it('resumes the run that asked, and says which call it answers', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, waits]);
    await fixture.published();

    const { run, facts } = await answer(claim);

    expect(run).toMatchObject({ status: 'queued', waiting: null });
    expect(listTypes(facts)).toEqual(['run.resumed', 'message.created']);
    expect(facts[1]).toMatchObject({ data: { message: { metadata: { answers_tool_call_id: 'call_1' } } } });
    expect(await fixture.published()).toMatchObject([{ key: `${claim.runId}-2` }]);
    expect((await fixture.claim(claim.runId, 'worker-2')).epoch).toBe(2);
  });

  it('is taken once when two people answer', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, waits]);

    const outcomes = await Promise.allSettled([answer(claim), answer(claim)]);

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is refused by a run that does not wait', async () => {
    await expect(answer(await fixture.claimed())).rejects.toMatchObject({ code: 'run_not_waiting' });
  });
});
