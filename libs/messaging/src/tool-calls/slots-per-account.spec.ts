import type { EffectClass } from '@rondo/contract';
import { type Handle, ToolCallFixture, aCall, endlessWork, never, says } from '../testing/tool-call-fixture';
import type { ToolCallConsumer } from './tool-call-consumer';

interface Sent {
  readonly effect?: EffectClass;
  readonly thread?: string;
  readonly text?: string;
}

const limits = { concurrency: 8, perAccount: 6, perThread: 4 };

/** Calls that go on until they are ended. The accounts whose calls began, in that order. */
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
    return says(account_id);
  };
  const endOne = () => ends.shift()?.();
  return { handle, begun, threads, endOne };
}

describe('attack: tenants', () => {
  let bench: ToolCallFixture;
  beforeEach(() => (bench = new ToolCallFixture()));
  afterEach(() => bench.close());

  /** Sends so many calls of one account, each of a thread of its own unless told. */
  async function send(account: string, many: number, { effect = 'unsafe', thread = '', text = '' }: Sent = {}) {
    const link = await bench.nats.link();
    const calls = Array.from({ length: many }, async (_, index) => {
      const call = { ...aCall(effect), arguments: { text } };
      const tools = await bench.worker(call.run_id, {
        link,
        account: `acc_${account}`,
        thread: thread || `thr_${account}${index}`,
      });
      return { call, answer: tools.execute(call, never).catch(() => undefined) };
    });
    return Promise.all(calls);
  }
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise(setImmediate);
  };

  it.each(['unsafe', 'pure'] as const)(
    'an account with 64 sleeping %s calls before another account sends one',
    async (effect) => {
      const { handle, begun } = sleepingCalls();
      await bench.executor(handle, limits);
      const flood = await send('A', 64, { effect });
      if (effect === 'unsafe') await Promise.all(flood.map(({ call }) => bench.queued(call)));
      await until(() => begun.length >= limits.perAccount);

      await send('B', 1);
      await until(() => begun.includes('B'));

      expect(begun.filter((account) => account === 'A')).toHaveLength(limits.perAccount);
    },
  );

  it('an account whose waiting calls are more than the executor keeps in memory', async () => {
    const { handle, begun, endOne } = sleepingCalls();
    await bench.executor(handle, limits);
    const flood = await send('A', 40, { text: 'x'.repeat(1_000_000) });
    await until(() => begun.length >= limits.perAccount);

    await send('B', 1);
    await until(() => begun.includes('B'));
    const ending = setInterval(endOne, 5);
    const answers = await Promise.all(flood.map(({ answer }) => answer));
    clearInterval(ending);

    expect(answers.filter((answer) => answer?.how === 'answered')).toHaveLength(40);
  });

  it('a thread with 64 sleeping calls before another thread of its account sends one', async () => {
    const { handle, begun, threads } = sleepingCalls();
    await bench.executor(handle, limits);
    await send('A', 64, { thread: 'thr_greedy' });
    await until(() => begun.length >= limits.perThread);

    await send('A', 1, { thread: 'thr_modest' });
    await until(() => threads.includes('thr_modest'));

    expect(threads).toHaveLength(limits.perThread + 1);
  });

  it('two accounts that fill the executor: a third one has the next free slot', async () => {
    const { handle, begun, endOne } = sleepingCalls();
    await bench.executor(handle, limits);
    await send('A', 30);
    await send('B', 30);
    await until(() => begun.length >= limits.concurrency);
    const third = await send('C', 1);
    await Promise.all(third.map(({ call }) => bench.queued(call)));
    const fourth = await send('A', 1);
    await Promise.all(fourth.map(({ call }) => bench.queued(call)));

    endOne();
    await until(() => begun.length > limits.concurrency);
    endOne();
    await until(() => begun.length > limits.concurrency + 1);

    expect(begun.slice(limits.concurrency)).toContain('C');
  });
});

describe('a call that waits for a slot', () => {
  let bench: ToolCallFixture;
  beforeEach(() => (bench = new ToolCallFixture()));
  afterEach(() => bench.close());

  const full = async () => {
    const work = endlessWork();
    const executor = await bench.executor(work.handle, { concurrency: 1 });
    const first = aCall();
    const tools = await bench.worker(first.run_id);
    const running = tools.execute(first, never).catch(() => undefined);
    await work.begun;
    return { ...executor, work, running };
  };
  const waits = async (consumer: ToolCallConsumer) => {
    while (consumer.load.waiting === 0) await new Promise(setImmediate);
  };

  it('is stopped at once, and was never begun (I7)', async () => {
    const { consumer, work } = await full();
    const call = aCall();
    const { answer, stop } = await bench.stoppable(call);
    await waits(consumer);

    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: expect.any(String) });
    expect(work.calls).toHaveLength(1);
  });

  it('is said not to have run when its time is over', async () => {
    const { work } = await full();
    const call = aCall();
    const tools = await bench.worker(call.run_id, { toolTimeoutMs: 100, timing: { patienceMs: 300 } });

    const answer = await tools.execute(call, never);

    const error = 'Not executed: no executor was there, or had a place free, to run it in time.';
    expect(answer).toMatchObject({ how: 'answered', result: { success: false, error } });
    expect(work.calls).toHaveLength(1);
  });

  it('is left to the next process when the executor ends, and runs there', async () => {
    const { consumer, work } = await full();
    const call = aCall();
    const tools = await bench.worker(call.run_id);
    const answer = tools.execute(call, never);
    await waits(consumer);

    await consumer.close({ graceMs: 0, reason: new Error('deploy') });
    await bench.executor(() => Promise.resolve(says('next')));

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'next' } });
    expect(work.calls).toHaveLength(1);
  });

  it('is not unknown when its executor dies (I5)', async () => {
    const { consumer, die } = await full();
    const call = aCall('unsafe');
    const tools = await bench.worker(call.run_id);
    const answer = tools.execute(call, never);
    await waits(consumer);

    await die();
    await bench.executor(() => Promise.resolve(says('next')));

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'next' } });
  });
});
