import { setTimeout as sleep } from 'node:timers/promises';
import { ExecutorFixture, type CallOptions, aCall } from '../../testing/executor-fixture';
import { SandboxSlots } from './sandbox-slots';

const maxAwake = 2;

describe('attack: sandbox resources', () => {
  let fixture: ExecutorFixture;
  const ending: AbortController[] = [];
  beforeEach(async () => {
    fixture = await ExecutorFixture.open({}, {}, { sandboxMax: maxAwake });
  });
  afterEach(async () => {
    for (const end of ending.splice(0)) end.abort(new Error('the spec is over'));
    await fixture.close();
  });

  const shell = (command: string, options: CallOptions) =>
    fixture.use('execute_command', { command, blocking: true }, options);

  /** A command that runs until it is stopped. Resolves when it runs. */
  async function busy(options: CallOptions) {
    const end = new AbortController();
    ending.push(end);
    const call = aCall('execute_command', { command: 'echo up; sleep 60', blocking: true }, options);
    let up = (): void => undefined;
    const isUp = new Promise<void>((resolve) => (up = resolve));
    const reply = fixture.reply(call, { signal: end.signal, output: () => up() });
    await isUp;
    return { reply, end: () => end.abort(new Error('stopped')) };
  }
  /** A job in the background. */
  const daemon = (options: CallOptions) =>
    fixture.use('execute_command', { command: 'sleep 60', session_name: 'job', blocking: false }, options);

  it('more threads with a running command than sandbox slots: they wait for a slot', async () => {
    const first = await busy({ thread: 'thr_a' });
    await busy({ thread: 'thr_b' });
    const third = busy({ thread: 'thr_c' });
    while (fixture.slots.waiting === 0) await sleep(5);
    expect(fixture.awake).toEqual(['thr_a', 'thr_b']);
    expect(fixture.slots.isFull).toBe(true);

    first.end();
    await third;

    expect(fixture.awake).toEqual(['thr_b', 'thr_c']);
  });

  it('thread after thread that uses a sandbox once: the sandbox unused longest ends, and its files stay', async () => {
    for (const thread of ['thr_a', 'thr_b', 'thr_c', 'thr_d']) {
      await shell(`echo ${thread} > file`, { thread });
      expect(fixture.awake.length).toBeLessThanOrEqual(maxAwake);
    }
    expect(fixture.awake).toEqual(['thr_c', 'thr_d']);
    expect(fixture.slots.isFull).toBe(false);

    expect(await shell('cat file', { thread: 'thr_a' })).toMatchObject({ output: 'thr_a\n' });
    expect(fixture.awake).toEqual(['thr_d', 'thr_a']);
  });

  it('an account that keeps all sandboxes awake by jobs in the background', async () => {
    await daemon({ thread: 'thr_a', account: 'acc_greedy' });
    await daemon({ thread: 'thr_b', account: 'acc_greedy' });

    expect(await shell('echo hello', { thread: 'thr_c', account: 'acc_other' })).toMatchObject({ output: 'hello\n' });

    expect(fixture.awake).toEqual(['thr_b', 'thr_c']);
  });

  it('an account that waits for a slot with many threads before another account does', async () => {
    const [first] = [await busy({ thread: 'thr_a', account: 'acc_greedy' })];
    await busy({ thread: 'thr_b', account: 'acc_greedy' });
    const begun: string[] = [];
    const waits = ['thr_c', 'thr_d', 'thr_e'].map(async (thread) => {
      await busy({ thread, account: 'acc_greedy' });
      begun.push(thread);
    });
    while (fixture.slots.waiting < waits.length) await sleep(5);
    const other = busy({ thread: 'thr_f', account: 'acc_other' });
    while (fixture.slots.waiting <= waits.length) await sleep(5);

    first.end();
    await other;

    expect(begun).toEqual([]);
    for (const end of ending) end.abort(new Error('the spec is over'));
  });

  it('a call that gets no slot before its timeout: its result says that nothing was executed', async () => {
    await busy({ thread: 'thr_a' });
    await busy({ thread: 'thr_b' });

    const reply = await fixture.reply(
      aCall('execute_command', { command: 'echo x > file', blocking: true }, { thread: 'thr_c', timeoutMs: 300 }),
    );

    const error = 'Not executed: no sandbox was free in time. Try again later.';
    expect(reply).toMatchObject({ how: 'answered', result: { success: false, error } });
    expect(fixture.awake).toEqual(['thr_a', 'thr_b']);
  });

  it('a call that is stopped while it waits for a slot', async () => {
    await busy({ thread: 'thr_a' });
    await busy({ thread: 'thr_b' });
    const stop = new AbortController();
    const reply = fixture.reply(aCall('list_files', {}, { thread: 'thr_c' }), { signal: stop.signal });
    while (fixture.slots.waiting === 0) await sleep(5);

    stop.abort(new Error('stopped'));

    expect(await reply).toMatchObject({ how: 'stopped' });
    expect(fixture.slots.waiting).toBe(0);
  });
});

describe('SandboxSlots', () => {
  it('does not let a call wait that was stopped before', async () => {
    const asleep = { awake: () => [], isAwake: () => false, putToSleep: () => Promise.resolve() };
    const slots = new SandboxSlots(1, asleep, { info: () => undefined, warn: () => undefined });
    const wait = { signal: new AbortController().signal, timeoutMs: 100 };
    await slots.acquire({ account: 'acc_1', thread: 'thr_a' }, wait);

    const stopped = { ...wait, signal: AbortSignal.abort(new Error('stopped')) };

    await expect(slots.acquire({ account: 'acc_1', thread: 'thr_b' }, stopped)).rejects.toThrow('stopped');
    await expect(slots.acquire({ account: 'acc_1', thread: 'thr_a' }, stopped)).rejects.toThrow('stopped');
  });

  it('does not evict a sandbox with a background job of an account within its share', async () => {
    const fixture = await ExecutorFixture.open({}, {}, { sandboxMax: maxAwake });
    try {
      await fixture.use('execute_command', { command: 'sleep 60', session_name: 'job', blocking: false });
      for (const thread of ['thr_b', 'thr_c', 'thr_d'])
        await fixture.use('list_files', {}, { thread, account: 'acc_2' });

      expect(fixture.awake).toEqual(['thr_one', 'thr_d']);
    } finally {
      await fixture.close();
    }
  });
});
