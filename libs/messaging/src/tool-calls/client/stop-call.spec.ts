import { ToolCallFixture, aCall, endlessWork } from '../../testing/tool-call-fixture';
import { createToolStreams } from '../../testing/test-nats';

describe('stopping a tool call (I7)', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  it('answers with the time at which the executor confirmed its end', async () => {
    const call = aCall();
    const work = endlessWork();
    await fixture.executor(work.handle);
    const { answer, stop } = await fixture.stoppable(call);
    await work.begun;

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: '2030-01-01T00:00:00.000Z' });
  });

  it('keeps the answer of a call that finished before the stop came', async () => {
    const call = aCall();
    const stop = new AbortController();
    await fixture.executor(async (_call, { signal }) => {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      stop.abort();
      await aborted;
      return { how: 'answered', result: { success: true, output: 'done' }, duration_ms: 1 };
    });
    const tools = await fixture.worker(call.run_id);

    expect(await tools.execute(call, stop.signal)).toMatchObject({ how: 'answered', result: { output: 'done' } });
  });

  it('withdraws a call that no executor has claimed, and none runs it later', async () => {
    const call = aCall('idempotent');
    const { answer, stop } = await fixture.stoppable(call, { timing: { stopTimeoutMs: 60_000 } });
    await fixture.queued(call);

    stop.abort();
    expect(await answer).toMatchObject({ how: 'stopped', verifiedDeadAt: expect.any(String) });

    const work = endlessWork();
    await fixture.executor(work.handle, { concurrency: 1 });
    const other = aCall();
    const next = await fixture.worker(other.run_id);
    void next.execute(other, new AbortController().signal).catch(() => undefined);
    await work.begun;
    expect(work.calls.map(({ call_id }) => call_id)).toEqual([other.id]);
  });

  it('withdraws a call that is still in transit to the queue', async () => {
    const call = aCall();
    const link = await fixture.nats.link();
    const tools = await fixture.worker(call.run_id, { link, timing: { stopTimeoutMs: 60_000 } });
    await createToolStreams(link).ensure();
    const stop = new AbortController();
    const answer = tools.execute(call, stop.signal);
    await new Promise(setImmediate); // sent by now

    stop.abort();

    expect(await answer).toMatchObject({ how: 'stopped', verifiedDeadAt: expect.any(String) });
  });

  it('answers within the bound of a stop, unverified, when the executor is dead', async () => {
    const call = aCall();
    const work = endlessWork();
    const executor = await fixture.executor(work.handle);
    const { answer, stop } = await fixture.stoppable(call, { timing: { stopTimeoutMs: 300 } });
    await work.begun;
    await executor.die();

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: null });
  });

  it('stops a running call on reattach when the run is already stopped', async () => {
    const call = aCall();
    const work = endlessWork();
    await fixture.executor(work.handle);
    const first = await fixture.worker(call.run_id);
    void first.execute(call, new AbortController().signal).catch(() => undefined);
    await work.begun;
    first.close(new Error('died'));
    const second = await fixture.worker(call.run_id);

    const answer = await second.reattach({ call, store: null }, AbortSignal.abort());

    expect(answer).toEqual({ how: 'stopped', verifiedDeadAt: '2030-01-01T00:00:00.000Z' });
  });

  it('sends nothing for a call that is stopped before it was sent', async () => {
    const call = aCall();
    const tools = await fixture.worker(call.run_id);

    expect(await tools.execute(call, AbortSignal.abort())).toMatchObject({
      how: 'stopped',
      verifiedDeadAt: expect.any(String),
    });
  });
});
