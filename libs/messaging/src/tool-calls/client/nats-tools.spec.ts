import { setTimeout as sleep } from 'node:timers/promises';
import { type Delta, effectClass } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { ToolCallFixture, aCall, endlessWork, never, answered } from '../../testing/tool-call-fixture';
import type { DispatchedCall } from '../wire-format';
import { createToolStreams } from '../../testing/test-nats';

describe('NatsTools and ToolCallConsumer', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => {
    jest.restoreAllMocks();
    return fixture.close();
  });

  it('sends a call to its executor and returns the answer', async () => {
    const call = aCall();
    const seen: DispatchedCall[] = [];
    const tools = await fixture.worker(call.run_id, { toolTimeoutMs: 5_000 });
    await fixture.executor((dispatched) => {
      seen.push(dispatched);
      return Promise.resolve(answered('noon'));
    });

    const answer = await tools.execute(call, never);

    expect(answer).toEqual({ how: 'answered', result: { success: true, output: 'noon' }, durationMs: 1 });
    expect(seen).toEqual([
      {
        call_id: call.id,
        run_id: call.run_id,
        thread_id: 'thr_1',
        account_id: 'acc_1',
        epoch: 1,
        name: 'execute_command',
        arguments: { command: 'date' },
        effect_class: 'unsafe',
        attempt: 1,
        timeout_ms: 5_000,
        patience_ms: expect.any(Number),
        store: expect.any(String),
      },
    ]);
    expect(seen[0]?.patience_ms).toBeGreaterThan(5_000);
    expect(seen[0]?.patience_ms).toBeLessThanOrEqual(65_000); // its timeout and the fixture's patience
  });

  it('runs many calls of a run at once, at most as many as the executor has slots', async () => {
    const run = aCall().run_id;
    const calls = Array.from({ length: 20 }, () => aCall('pure', run));
    let atOnce = 0;
    let most = 0;
    await fixture.executor(
      async ({ call_id }) => {
        most = Math.max(most, (atOnce += 1));
        await new Promise((resolve) => setTimeout(resolve, 10));
        atOnce -= 1;
        return answered(call_id);
      },
      { concurrency: 4 },
    );
    const tools = await fixture.worker(run);

    const answers = await Promise.all(calls.map((call) => tools.execute(call, never)));

    expect(answers.map((answer) => answer.how === 'answered' && answer.result.output)).toEqual(
      calls.map(({ id }) => id),
    );
    expect(most).toBe(4);
  });

  it('sends each call to the executor that hosts its thread', async () => {
    const [ours, theirs] = [aCall(), aCall()];
    await fixture.executor(() => Promise.resolve(answered('a')), { executorId: 'exec-a' });
    await fixture.executor(() => Promise.resolve(answered('b')), { executorId: 'exec-b' });
    const a = await fixture.worker(ours.run_id, { executorId: 'exec-a' });
    const b = await fixture.worker(theirs.run_id, { executorId: 'exec-b' });

    expect(await a.execute(ours, never)).toMatchObject({ result: { output: 'a' } });
    expect(await b.execute(theirs, never)).toMatchObject({ result: { output: 'b' } });
  });

  it('answers at once when the thread can never be placed', async () => {
    const call = aCall();
    const placement = () => Promise.reject(new TerminalError('sandbox_unavailable', 'bubblewrap is missing'));
    const tools = await fixture.worker(call.run_id, { placement });

    const answer = await tools.execute(call, never);

    expect(answer).toMatchObject({ how: 'answered', result: { success: false, error: 'bubblewrap is missing' } });
  });

  it('passes on the output of a command, in order and before the answer', async () => {
    const call = aCall();
    const output: string[] = [];
    const onOutput = (delta: Delta) => output.push(`${delta.type} ${delta.streamId} ${delta.channel}: ${delta.text}`);
    const tools = await fixture.worker(call.run_id, { onOutput });
    await fixture.executor(async (_call, { output }) => {
      for (let line = 0; line < 100; line += 1) output(`line ${line}`, 'stdout');
      return answered('done');
    });

    await tools.execute(call, never);

    expect(output).toEqual(Array.from({ length: 100 }, (_, line) => `tool.output ${call.id} stdout: line ${line}`));
  });

  it('finds the answer of a call whose first worker died (I5)', async () => {
    const call = aCall();
    const work = endlessWork();
    let finish = (): void => undefined;
    await fixture.executor(async (dispatched, context) => {
      void work.handle(dispatched, context);
      await new Promise<void>((resolve) => (finish = resolve));
      return answered('late');
    });
    const first = await fixture.worker(call.run_id);
    const lost = first.execute(call, never);
    await work.begun;

    first.close(new Error('the claim was lost'));
    await expect(lost).rejects.toThrow('the claim was lost');
    const second = await fixture.worker(call.run_id);
    const found = second.reattach({ call, store: null }, never);
    finish();

    expect(await found).toMatchObject({ how: 'answered', result: { output: 'late' } });
    expect(work.calls).toHaveLength(1);
  });

  it('finds a stored answer when the executor is dead', async () => {
    const call = aCall();
    const executor = await fixture.executor(() => Promise.resolve(answered('stored')));
    const first = await fixture.worker(call.run_id);
    await first.execute(call, never);
    await executor.die();
    const second = await fixture.worker(call.run_id);

    expect(await second.reattach({ call, store: null }, never)).toMatchObject({
      how: 'answered',
      result: { output: 'stored' },
    });
  });

  it('tells the executor how long it still waits, without the time in the queue, whatever the clocks of both', async () => {
    const call = aCall();
    const tools = await fixture.worker(call.run_id, { toolTimeoutMs: 5_000 });
    const answer = tools.execute(call, never);
    await fixture.queued(call);
    await sleep(300); // in the queue
    const now = Date.now.bind(Date);
    const ahead = jest.spyOn(Date, 'now').mockImplementation(() => now() + 240_000);

    await fixture.executor(async ({ patience_ms }) => answered(String(patience_ms)));
    const leftMs = Number(((await answer) as { result: { output: string } }).result.output);
    ahead.mockRestore();

    expect(leftMs).toBeLessThanOrEqual(64_700); // its timeout, and the fixture's patience
    expect(leftMs).toBeGreaterThan(50_000);
  });

  it.each([
    ['executor is in the year 2100', 0, 75],
    ['executor is in the year 1970', 0, -56],
    ['worker is in the year 2100', 75, 0],
    ['worker is in the year 1970', -56, 0],
  ])('runs an unsafe call once where the clock of its %s', async (_, workerYears, executorYears) => {
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now');
    const setClock = (years: number) => clock.mockImplementation(() => now() + years * 365 * 24 * 3_600_000);
    setClock(workerYears);
    const call = aCall('unsafe');
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await fixture.queued(call);
    setClock(executorYears);
    const seen: DispatchedCall[] = [];

    await fixture.executor(async (dispatched) => {
      seen.push(dispatched);
      return answered('done');
    });

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'done' } });
    expect(seen).toHaveLength(1);
  });

  it('waits for a call that is still in the queue', async () => {
    const call = aCall();
    const first = await fixture.worker(call.run_id);
    void first.execute(call, never).catch(() => undefined);
    await fixture.queued(call);
    first.close(new Error('died'));
    const second = await fixture.worker(call.run_id);
    const found = second.reattach({ call, store: null }, never);

    await fixture.executor(() => Promise.resolve(answered('after all')));

    expect(await found).toMatchObject({ how: 'answered', result: { output: 'after all' } });
  });

  it('sends even an unsafe call that the earlier holder never sent, if the store has lost nothing', async () => {
    const call = aCall('unsafe');
    const seen: DispatchedCall[] = [];
    await fixture.executor(async (dispatched) => {
      seen.push(dispatched);
      return answered('at last');
    });
    const link = await fixture.nats.link();
    const tools = await fixture.worker(call.run_id, { link });
    await createToolStreams(link).ensure();

    expect(await tools.reattach({ call, store: tools.store }, never)).toMatchObject({ result: { output: 'at last' } });
    expect(seen).toMatchObject([{ call_id: call.id, attempt: 1 }]);
  });

  it.each(effectClass.options)(
    'never sends a call again that may have taken effect: a %s one without a record is unknown (I5)',
    async (effect) => {
      const call = aCall(effect);
      const work = endlessWork();
      await fixture.executor(work.handle);
      const tools = await fixture.worker(call.run_id);

      expect(await tools.reattach({ call, store: null }, never)).toMatchObject({ how: 'unknown' });
      expect(work.calls).toEqual([]);
    },
  );

  it('answers that a call was not executed when no executor claims it in time, and none runs it later', async () => {
    const call = aCall();
    const tools = await fixture.worker(call.run_id, { toolTimeoutMs: 100, timing: { patienceMs: 200 } });

    const answer = await tools.execute(call, never);
    const work = endlessWork();
    await fixture.executor(work.handle, { concurrency: 1 });
    const other = aCall('pure');
    const next = await fixture.worker(other.run_id);
    void next.execute(other, never).catch(() => undefined);
    await work.begun;

    expect(answer).toMatchObject({ how: 'answered', result: { success: false } });
    expect(work.calls.map(({ call_id }) => call_id)).toEqual([other.id]);
  });

  it('answers unknown when the executor takes longer than the timeout', async () => {
    const call = aCall();
    const work = endlessWork();
    await fixture.executor(work.handle);
    const tools = await fixture.worker(call.run_id, { toolTimeoutMs: 300, timing: { patienceMs: 300 } });

    expect(await tools.execute(call, never)).toEqual({ how: 'unknown', reason: 'The tool did not answer in time.' });
  });

  it('rejects open and later calls with the reason of close', async () => {
    const call = aCall();
    const tools = await fixture.worker(call.run_id);
    const open = tools.execute(call, never);

    tools.close(new Error('drained'));

    await expect(open).rejects.toThrow('drained');
    await expect(tools.execute(aCall(), never)).rejects.toThrow('drained');
  });
});
