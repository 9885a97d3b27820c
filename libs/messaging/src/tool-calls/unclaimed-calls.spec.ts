import { type ToolCall, runId } from '@rondo/contract';
import { type Handle, ToolCallFixture, aCall, endlessWork, never, says } from '../testing/tool-call-fixture';
import type { ToolReply } from './tool-wire';
import { toolStreamsOf } from '../testing/test-nats';

const probes = runId.parse('run_probe');

describe('pure calls, which run without being taken', () => {
  let bench: ToolCallFixture;
  beforeEach(() => (bench = new ToolCallFixture()));
  afterEach(() => bench.close());

  it('are taken by an executor that has just begun to listen, and no more when it has listened for a while', async () => {
    await bench.executor(async () => says('done'));
    expect(await takerOf(aCall('pure'))).toEqual(expect.any(String));

    await listened();

    expect(await takerOf(aCall('pure'))).toBeUndefined();
    expect(await takerOf(aCall('idempotent'))).toEqual(expect.any(String));
    expect(await takerOf({ ...aCall('pure'), attempt: 2 })).toEqual(expect.any(String));
  });

  it('go past the queue, and leave no trace', async () => {
    const call = aCall('pure');
    await listeningExecutor(async () => says('done'));
    const tools = await bench.worker(call.run_id);
    const queued = await callsEverQueued();

    expect(await tools.execute(call, never)).toMatchObject({ result: { output: 'done' } });

    const records = await bench.records();
    expect(await records.reply(keyOf(call))).toBeUndefined();
    expect(await callsEverQueued()).toBe(queued);
  });

  it('are asked for the answer that the holder of the run before had, and do not run again', async () => {
    const call = aCall('pure');
    const handle = jest.fn(async () => says('kept'));
    await listeningExecutor(handle);
    const first = await bench.worker(call.run_id);
    await first.execute(call, never);
    const second = await bench.worker(call.run_id);

    expect(await second.reattach({ call, store: first.store }, never)).toMatchObject({ result: { output: 'kept' } });
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it.each([
    { which: 'took long', answer: { ...says('kept'), duration_ms: 21 } },
    { which: 'are long', answer: says('long '.repeat(4_000)) },
  ])(
    'leave answers that $which for the next holder of the run, whatever becomes of their executor',
    async ({ answer }) => {
      const call = aCall('pure');
      const executor = await listeningExecutor(async () => answer);
      const first = await bench.worker(call.run_id);
      const heard = await first.execute(call, never);
      await executor.die();
      const second = await bench.worker(call.run_id);

      expect(await second.reattach({ call, store: first.store }, never)).toEqual(heard);
    },
  );

  it('go through the queue where nobody listened, and run when somebody does', async () => {
    const call = aCall('pure');
    const tools = await bench.worker(call.run_id);
    const answer = tools.execute(call, never);
    await bench.queued(call);

    await bench.executor(async () => says('late'));

    expect(await answer).toMatchObject({ result: { output: 'late' } });
  });

  it('run once, however long they take, though they are looked for in the queue meanwhile', async () => {
    const call = aCall('pure');
    let end = (): void => undefined;
    const handle = jest.fn(() => new Promise<ToolReply>((resolve) => (end = () => resolve(says('at last')))));
    await listeningExecutor(handle);
    const tools = await bench.worker(call.run_id);
    const answer = tools.execute(call, never);
    await bench.queued(call);

    end();

    expect(await answer).toMatchObject({ result: { output: 'at last' } });
    await gone(call);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('run again when their executor died while they ran', async () => {
    const call = aCall('pure');
    const work = endlessWork();
    const dying = await listeningExecutor(work.handle);
    const tools = await bench.worker(call.run_id);
    const answer = tools.execute(call, never);
    await work.begun;

    await dying.die();
    await bench.executor(({ attempt }) => Promise.resolve(says(`attempt ${attempt}`)));

    expect(await answer).toMatchObject({ result: { output: 'attempt 1' } });
  });

  it('end by a stop while they run, with the moment of it (I7)', async () => {
    const call = aCall('pure');
    const work = endlessWork();
    await listeningExecutor(work.handle);
    const { answer, stop } = await bench.stoppable(call);
    await work.begun;

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: '2030-01-01T00:00:00.000Z' });
  });

  it('are called off by a stop while they wait behind others, and never run (I7)', async () => {
    const work = endlessWork();
    const { consumer } = await listeningExecutor(work.handle, 1);
    const busy = aCall('pure');
    const other = await bench.worker(busy.run_id);
    const free = new AbortController();
    const first = other.execute(busy, free.signal);
    await work.begun;
    const call = aCall('pure');
    const { answer, stop } = await bench.stoppable(call, { timing: { stopTimeoutMs: 60_000 } });
    await bench.queued(call);

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: expect.any(String) });
    free.abort();
    await first;
    await gone(call);
    expect(work.calls).toHaveLength(1);
    expect(consumer.load).toEqual({ running: 0, waiting: 0 });
  });

  it('are called off by a stop that overtakes them on their way (I7)', async () => {
    const work = endlessWork();
    await listeningExecutor(work.handle);
    const call = aCall('pure');
    const link = await bench.nats.link();
    const tools = await bench.worker(call.run_id, { link, timing: { stopTimeoutMs: 60_000 } });
    await toolStreamsOf(link).ensure();
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
    await (await bench.worker(later.run_id, { link })).execute(later, never);

    expect(work.calls).toEqual([]);
  });

  it('are reported as unverified by a stop that no executor hears, and none runs them later (I7)', async () => {
    const call = aCall('pure');
    const { answer, stop } = await bench.stoppable(call, { timing: { stopTimeoutMs: 500 } });
    await bench.queued(call);

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: null });
    const work = endlessWork();
    await bench.executor(work.handle);
    await gone(call);
    expect(work.calls).toEqual([]);
  });

  it('keep the answer that a stop comes too late for', async () => {
    const call = aCall('pure');
    await listeningExecutor(async () => says('done'));
    const first = await bench.worker(call.run_id);
    await first.execute(call, never);
    const second = await bench.worker(call.run_id);

    const answer = second.reattach({ call, store: null }, AbortSignal.abort());

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'done' } });
  });

  /** Runs the call, and tells who took it. */
  async function takerOf(call: ToolCall): Promise<string | undefined> {
    const tools = await bench.worker(call.run_id);
    expect(await tools.execute(call, never)).toMatchObject({ how: 'answered' });
    tools.close(new Error('asked'));
    return (await bench.records()).taker(keyOf(call));
  }

  /** Resolves when an executor has listened long enough. */
  async function listened(): Promise<void> {
    while ((await takerOf(aCall('pure', probes))) !== undefined);
  }

  async function callsEverQueued(): Promise<number> {
    const link = await bench.nats.link();
    const [toolStreams, { names }] = [toolStreamsOf(link), link];
    const { state } = await (await toolStreams.manager).streams.info(names.toolCalls.stream);
    return state.last_seq;
  }

  async function listeningExecutor(handle: Handle, concurrency = 8) {
    const answersProbes: Handle = async (call, context) =>
      call.run_id === probes ? says('heard') : handle(call, context);
    const executor = await bench.executor(answersProbes, { concurrency });
    await listened();
    return executor;
  }

  /** Resolves when the queue has forgotten the call. */
  async function gone(call: ToolCall): Promise<void> {
    const records = await bench.records();
    while (await records.waits(keyOf(call)));
  }
});

const keyOf = ({ run_id, id, attempt }: ToolCall) => ({ runId: run_id, callId: id, attempt });
