import { setTimeout as delay } from 'node:timers/promises';
import type { EffectClass } from '@rondo/contract';
import { type Handle, ToolCallFixture, aCall, endlessWork, never, answered } from '../../testing/tool-call-fixture';
import type { ToolCallConsumer } from './tool-call-consumer';

interface Sent {
  readonly effect?: EffectClass;
  readonly thread?: string;
  readonly text?: string;
}

const limits = { concurrency: 8, perAccount: 6, perThread: 4 };

/** A handler whose calls run until `endOne`; `begun` has the accounts of started calls, in order. */
function sleepingCalls() {
  const begun: string[] = [];
  const threads: string[] = [];
  const ends: (() => void)[] = [];
  const handle: Handle = async ({ account_id = '', thread_id }, { signal }) => {
    begun.push(account_id.replace('acc_', ''));
    threads.push(thread_id);
    await new Promise<void>((resolve) => {
      ends.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return answered(account_id);
  };
  const endOne = () => ends.shift()?.();
  return { handle, begun, threads, endOne };
}

describe('slots of an executor among accounts', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  /** Sends calls of one account, each of its own thread unless one is given. */
  async function send(account: string, many: number, { effect = 'unsafe', thread = '', text = '' }: Sent = {}) {
    const link = await fixture.nats.link();
    const calls = Array.from({ length: many }, async (_, index) => {
      const call = { ...aCall(effect), arguments: { text } };
      const tools = await fixture.worker(call.run_id, {
        link,
        account: `acc_${account}`,
        thread: thread || `thr_${account}${index}`,
      });
      return { call, answer: tools.execute(call, never).catch(() => undefined) };
    });
    return Promise.all(calls);
  }
  const until = async (condition: () => boolean) => {
    while (!condition()) await delay(2);
  };

  it.each(['unsafe', 'pure'] as const)(
    'runs the call of another account while one account has 64 sleeping %s calls',
    async (effect) => {
      const { handle, begun } = sleepingCalls();
      await fixture.executor(handle, limits);
      const flood = await send('A', 64, { effect });
      if (effect === 'unsafe') await Promise.all(flood.map(({ call }) => fixture.queued(call)));
      await until(() => begun.length >= limits.perAccount);

      await send('B', 1);
      await until(() => begun.includes('B'));

      expect(begun.filter((account) => account === 'A')).toHaveLength(limits.perAccount);
    },
  );

  it('answers all calls of an account that has more waiting calls than fit in memory, and does not delay another account', async () => {
    const { handle, begun, endOne } = sleepingCalls();
    await fixture.executor(handle, limits);
    const flood = await send('A', 40, { text: 'x'.repeat(1_000_000) });
    await until(() => begun.length >= limits.perAccount);

    await send('B', 1);
    await until(() => begun.includes('B'));
    const ending = setInterval(endOne, 5);
    const answers = await Promise.all(flood.map(({ answer }) => answer));
    clearInterval(ending);

    expect(answers.filter((answer) => answer?.how === 'answered')).toHaveLength(40);
  });

  it('runs the call of another thread while a thread of the same account has 64 sleeping calls', async () => {
    const { handle, begun, threads } = sleepingCalls();
    await fixture.executor(handle, limits);
    await send('A', 64, { thread: 'thr_greedy' });
    await until(() => begun.length >= limits.perThread);

    await send('A', 1, { thread: 'thr_modest' });
    await until(() => threads.includes('thr_modest'));

    expect(threads).toHaveLength(limits.perThread + 1);
  });

  it('gives the next free slot to a third account when two accounts fill the executor', async () => {
    const { handle, begun, endOne } = sleepingCalls();
    await fixture.executor(handle, limits);
    await send('A', 30);
    await send('B', 30);
    await until(() => begun.length >= limits.concurrency);
    const third = await send('C', 1);
    await Promise.all(third.map(({ call }) => fixture.queued(call)));
    const fourth = await send('A', 1);
    await Promise.all(fourth.map(({ call }) => fixture.queued(call)));

    endOne();
    await until(() => begun.length > limits.concurrency);
    endOne();
    await until(() => begun.length > limits.concurrency + 1);

    expect(begun.slice(limits.concurrency)).toContain('C');
  });
});

describe('a call that waits for a slot', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  const full = async () => {
    const work = endlessWork();
    const executor = await fixture.executor(work.handle, { concurrency: 1 });
    const first = aCall();
    const tools = await fixture.worker(first.run_id);
    const running = tools.execute(first, never).catch(() => undefined);
    await work.begun;
    return { ...executor, work, running };
  };
  const waits = async (consumer: ToolCallConsumer) => {
    while (consumer.load.waiting === 0) await delay(2);
  };

  it('is stopped at once, and never runs (I7)', async () => {
    const { consumer, work } = await full();
    const call = aCall();
    const { answer, stop } = await fixture.stoppable(call);
    await waits(consumer);

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: expect.any(String) });
    expect(work.calls).toHaveLength(1);
  });

  it('is answered as not executed when its time is over', async () => {
    const { work } = await full();
    const call = aCall();
    const tools = await fixture.worker(call.run_id, { toolTimeoutMs: 100, timing: { patienceMs: 300 } });

    const answer = await tools.execute(call, never);

    const error = 'Not executed: no executor had a free slot to run it in time.';
    expect(answer).toMatchObject({ how: 'answered', result: { success: false, error } });
    expect(work.calls).toHaveLength(1);
  });

  it('is left to the next process when the executor closes, and runs there', async () => {
    const { consumer, work } = await full();
    const call = aCall();
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await waits(consumer);

    await consumer.close({ graceMs: 0, reason: new Error('deploy') });
    await fixture.executor(() => Promise.resolve(answered('next')));

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'next' } });
    expect(work.calls).toHaveLength(1);
  });

  it('runs on the next executor when its executor dies (I5)', async () => {
    const { consumer, die } = await full();
    const call = aCall('unsafe');
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await waits(consumer);

    await die();
    await fixture.executor(() => Promise.resolve(answered('next')));

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'next' } });
  });
});
