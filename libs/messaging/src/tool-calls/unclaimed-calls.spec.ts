import { type ToolCall, runId } from '@rondo/contract';
import { type Handle, ToolCallFixture, aCall, endlessWork, never, answered } from '../testing/tool-call-fixture';
import type { ToolReply } from './wire-format';
import { createToolStreams } from '../testing/test-nats';

const probes = runId.parse('run_probe');

describe('pure calls, which run unclaimed', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  it('are claimed by an executor that has just subscribed, and no longer once it has been subscribed for a while', async () => {
    await fixture.executor(async () => answered('done'));
    expect(await findClaimant(aCall('pure'))).toEqual(expect.any(String));

    await subscribedLongEnough();

    expect(await findClaimant(aCall('pure'))).toBeUndefined();
    expect(await findClaimant(aCall('idempotent'))).toEqual(expect.any(String));
    expect(await findClaimant({ ...aCall('pure'), attempt: 2 })).toEqual(expect.any(String));
  });

  it('go past the queue, and leave no record', async () => {
    const call = aCall('pure');
    await subscribedExecutor(async () => answered('done'));
    const tools = await fixture.worker(call.run_id);
    const queued = await callsEverQueued();

    expect(await tools.execute(call, never)).toMatchObject({ result: { output: 'done' } });

    const records = await fixture.records();
    expect(await records.reply(createKey(call))).toBeUndefined();
    expect(await callsEverQueued()).toBe(queued);
  });

  it('are answered to the next holder of the run from memory, and do not run again', async () => {
    const call = aCall('pure');
    const handle = jest.fn(async () => answered('kept'));
    await subscribedExecutor(handle);
    const first = await fixture.worker(call.run_id);
    await first.execute(call, never);
    const second = await fixture.worker(call.run_id);

    expect(await second.reattach({ call, store: first.store }, never)).toMatchObject({ result: { output: 'kept' } });
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it.each([
    { which: 'took long', answer: { ...answered('kept'), duration_ms: 21 } },
    { which: 'are long', answer: answered('long '.repeat(4_000)) },
  ])('store answers that $which for the next holder of the run, even if their executor dies', async ({ answer }) => {
    const call = aCall('pure');
    const executor = await subscribedExecutor(async () => answer);
    const first = await fixture.worker(call.run_id);
    const given = await first.execute(call, never);
    await executor.die();
    const second = await fixture.worker(call.run_id);

    expect(await second.reattach({ call, store: first.store }, never)).toEqual(given);
  });

  it('go through the queue when no executor is subscribed, and run when one is', async () => {
    const call = aCall('pure');
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await fixture.queued(call);

    await fixture.executor(async () => answered('late'));

    expect(await answer).toMatchObject({ result: { output: 'late' } });
  });

  it('run once, however long they take, although they are also sent through the queue meanwhile', async () => {
    const call = aCall('pure');
    let end = (): void => undefined;
    const handle = jest.fn(() => new Promise<ToolReply>((resolve) => (end = () => resolve(answered('at last')))));
    await subscribedExecutor(handle);
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await fixture.queued(call);

    end();

    expect(await answer).toMatchObject({ result: { output: 'at last' } });
    await gone(call);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('run again when their executor dies while they run', async () => {
    const call = aCall('pure');
    const work = endlessWork();
    const dying = await subscribedExecutor(work.handle);
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await work.begun;

    await dying.die();
    await fixture.executor(({ attempt }) => Promise.resolve(answered(`attempt ${attempt}`)));

    expect(await answer).toMatchObject({ result: { output: 'attempt 1' } });
  });

  it('are ended by a stop while they run, with the time of their end (I7)', async () => {
    const call = aCall('pure');
    const work = endlessWork();
    await subscribedExecutor(work.handle);
    const { answer, stop } = await fixture.stoppable(call);
    await work.begun;

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: '2030-01-01T00:00:00.000Z' });
  });

  it('are withdrawn by a stop while they wait for a slot, and never run (I7)', async () => {
    const work = endlessWork();
    const { consumer } = await subscribedExecutor(work.handle, 1);
    const busy = aCall('pure');
    const other = await fixture.worker(busy.run_id);
    const free = new AbortController();
    const first = other.execute(busy, free.signal);
    await work.begun;
    const call = aCall('pure');
    const { answer, stop } = await fixture.stoppable(call, { timing: { stopTimeoutMs: 60_000 } });
    await fixture.queued(call);

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: expect.any(String) });
    free.abort();
    await first;
    await gone(call);
    expect(work.calls).toHaveLength(1);
    expect(consumer.load).toEqual({ running: 0, waiting: 0 });
  });

  it('are withdrawn by a stop that arrives before them (I7)', async () => {
    const work = endlessWork();
    await subscribedExecutor(work.handle);
    const call = aCall('pure');
    const link = await fixture.nats.link();
    const tools = await fixture.worker(call.run_id, { link, timing: { stopTimeoutMs: 60_000 } });
    await createToolStreams(link).ensure();
    const stop = new AbortController();
    const hold = jest.spyOn(link.writes, 'soon');
    const held: Parameters<typeof link.writes.soon>[0][] = [];
    hold.mockImplementationOnce((send) => void held.push(send));
    const answer = tools.execute(call, stop.signal);
    await new Promise(setImmediate); // sent, as far as the worker knows

    stop.abort();
    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: expect.any(String) });
    held.forEach((send) => send(Infinity));
    const later = aCall('idempotent', probes);
    await (await fixture.worker(later.run_id, { link })).execute(later, never);

    expect(work.calls).toEqual([]);
  });

  it('are reported as unverified by a stop that no executor receives, and no executor runs them later (I7)', async () => {
    const call = aCall('pure');
    const { answer, stop } = await fixture.stoppable(call, { timing: { stopTimeoutMs: 500 } });
    await fixture.queued(call);

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: null });
    const work = endlessWork();
    await fixture.executor(work.handle);
    await gone(call);
    expect(work.calls).toEqual([]);
  });

  it('keep their answer when a stop comes too late', async () => {
    const call = aCall('pure');
    await subscribedExecutor(async () => answered('done'));
    const first = await fixture.worker(call.run_id);
    await first.execute(call, never);
    const second = await fixture.worker(call.run_id);

    const answer = second.reattach({ call, store: null }, AbortSignal.abort());

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'done' } });
  });

  /** Runs the call, and resolves to its claimant. */
  async function findClaimant(call: ToolCall): Promise<string | undefined> {
    const tools = await fixture.worker(call.run_id);
    expect(await tools.execute(call, never)).toMatchObject({ how: 'answered' });
    tools.close(new Error('done'));
    return (await fixture.records()).claimant(createKey(call));
  }

  /** Resolves when an executor has been subscribed for so long that it runs pure calls unclaimed. */
  async function subscribedLongEnough(): Promise<void> {
    while ((await findClaimant(aCall('pure', probes))) !== undefined);
  }

  async function callsEverQueued(): Promise<number> {
    const link = await fixture.nats.link();
    const [toolStreams, { names }] = [createToolStreams(link), link];
    const { state } = await (await toolStreams.manager).streams.info(names.toolCalls.stream);
    return state.last_seq;
  }

  async function subscribedExecutor(handle: Handle, concurrency = 8) {
    const answersProbes: Handle = async (call, context) =>
      call.run_id === probes ? answered('probe') : handle(call, context);
    const executor = await fixture.executor(answersProbes, { concurrency });
    await subscribedLongEnough();
    return executor;
  }

  /** Resolves when the call has left the queue. */
  async function gone(call: ToolCall): Promise<void> {
    const records = await fixture.records();
    while (await records.isQueued(createKey(call)));
  }
});

const createKey = ({ run_id, id, attempt }: ToolCall) => ({ runId: run_id, callId: id, attempt });
