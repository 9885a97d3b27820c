import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolCall } from '@rondo/contract';
import type { NatsLink } from '../../connection/nats-link';
import { ToolCallFixture, aCall, endlessWork, never, answered } from '../../testing/tool-call-fixture';
import { CallRecords, withdrawn } from '../call-records';
import { PendingCancellations } from './call-cancellation';

const runIsOver = new Error('the run is over');

describe('calls whose end was not confirmed before their run went on (I5, I7)', () => {
  let fixture: ToolCallFixture;
  let records: CallRecords;
  beforeEach(async () => {
    fixture = new ToolCallFixture();
    records = await fixture.records();
  });
  afterEach(() => fixture.close());

  it.each(['unsafe', 'pure'] as const)(
    'are withdrawn after a stop while NATS was away, and never run: %s',
    async (effect) => {
      const call = aCall(effect);
      const { link, proxy } = await fixture.nats.severableLink();
      const tools = await worker(call, link);
      await fixture.queued(call);

      await proxy.cut();
      expect(await stopped(tools)).toEqual({ how: 'stopped', verifiedDeadAt: null });
      await proxy.mend();
      await withdrawnInStore(call);

      const work = endlessWork();
      await fixture.executor(work.handle);
      await gone(call);
      expect(work.calls).toEqual([]);
    },
  );

  it.each(['unsafe', 'pure'] as const)(
    'are ended while they run, once NATS is back after a stop without it: %s',
    async (effect) => {
      const call = aCall(effect);
      const work = endlessWork();
      await fixture.executor(work.handle);
      const { link, proxy } = await fixture.nats.severableLink();
      const tools = await worker(call, link);
      await work.begun;

      await proxy.cut();
      expect(await stopped(tools)).toEqual({ how: 'stopped', verifiedDeadAt: null });
      await proxy.mend();

      expect(await replyTo(call)).toEqual({ how: 'stopped', verified_dead_at: '2030-01-01T00:00:00.000Z' });
    },
  );

  it('are ended once their executor is back, which received no cancellation', async () => {
    const call = aCall();
    const work = endlessWork();
    const { link, proxy } = await fixture.nats.severableLink();
    await fixture.executor(work.handle, { link });
    const tools = await worker(call);
    await work.begun;

    await proxy.cut();
    expect(await stopped(tools)).toEqual({ how: 'stopped', verifiedDeadAt: null });
    await proxy.mend();

    expect(await replyTo(call)).toMatchObject({ how: 'stopped' });
  });

  it('are withdrawn after their timeout while NATS was away, and their next attempt is not', async () => {
    const call = aCall('keyed');
    const { link, proxy } = await fixture.nats.severableLink();
    const tools = await fixture.worker(call.run_id, { link, toolTimeoutMs: 500, timing: { patienceMs: 2_000 } });
    const answer = tools.execute(call, never);
    await fixture.queued(call);

    await proxy.cut();
    expect(await answer).toEqual({ how: 'unknown', reason: 'The tool did not answer in time.' });
    tools.close(runIsOver);
    const next = { ...call, attempt: 2 };
    const second = (await fixture.worker(call.run_id)).execute(next, never);
    await fixture.queued(next);
    await proxy.mend();
    await withdrawnInStore(call);

    const seen: number[] = [];
    await fixture.executor(async ({ attempt }) => {
      seen.push(attempt);
      return answered('done');
    });
    expect(await second).toMatchObject({ result: { output: 'done' } });
    await gone(call);
    expect(seen).toEqual([2]);
  });

  /** Sends a call of a run that can be stopped. */
  async function worker(call: ToolCall, link?: NatsLink) {
    const stop = new AbortController();
    const tools = await fixture.worker(call.run_id, { timing: { stopTimeoutMs: 100 }, ...(link && { link }) });
    return { stop, answer: tools.execute(call, stop.signal), close: () => tools.close(runIsOver) };
  }

  /** Stops the call and closes its tools once it is answered. */
  async function stopped({ stop, answer, close }: Awaited<ReturnType<typeof worker>>) {
    stop.abort();
    const last = await answer;
    close();
    return last;
  }

  /** Resolves when no executor can claim the call any more. */
  async function withdrawnInStore(call: ToolCall): Promise<void> {
    while ((await records.claimant(createKey(call))) !== withdrawn) await sleep(10);
  }

  /** Resolves when the call has left the queue. */
  async function gone(call: ToolCall): Promise<void> {
    while (await records.isQueued(createKey(call))) await sleep(10);
  }

  async function replyTo(call: ToolCall) {
    for (;;) {
      const reply = await records.reply(createKey(call));
      if (reply) return reply;
      await sleep(10);
    }
  }
});

describe('PendingCancellations', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const minuteMs = 60_000;
  const dayMs = 24 * 60 * minuteMs;

  function around(link: { connected: boolean }) {
    let close = (): void => undefined;
    let reconnect = (): void => undefined;
    const warn = jest.fn();
    const closed = new Promise<void>((resolve) => (close = resolve));
    const nats = Object.assign(link, {
      connection: { closed: () => closed },
      onReconnect: (listener: () => void) => (reconnect = listener),
      log: { warn },
    });
    const ends = new PendingCancellations(nats as unknown as NatsLink); // the parts of a link that it uses
    return { ends, warn, close: () => close(), reconnect: () => reconnect() };
  }

  const endThat = (conclude: () => Promise<boolean>, callId = 'call_1') => ({
    key: { runId: 'run_1', callId, attempt: 1 },
    conclude: jest.fn(conclude),
  });

  it('retries until a cancellation is concluded, and not after that', async () => {
    const { ends } = around({ connected: true });
    const answers = [Promise.reject(new Error('NATS did not answer')), Promise.resolve(false), Promise.resolve(true)];
    const end = endThat(() => answers.shift() ?? Promise.resolve(false));
    ends.add(end);

    await jest.advanceTimersByTimeAsync(minuteMs);

    expect(end.conclude).toHaveBeenCalledTimes(3);
  });

  it('waits for NATS, and retries at once when it is back', async () => {
    const link = { connected: false };
    const { ends, reconnect } = around(link);
    const end = endThat(async () => true);
    ends.add(end);
    await jest.advanceTimersByTimeAsync(minuteMs);
    expect(end.conclude).not.toHaveBeenCalled();

    link.connected = true;
    reconnect();

    expect(end.conclude).toHaveBeenCalledTimes(1);
  });

  it('keeps at most a thousand, for at most a day, and logs what it drops (I11)', async () => {
    const { ends, warn } = around({ connected: true });
    const left = () => warn.mock.calls.map(([{ callId }]: [{ callId: string }]) => callId);
    for (let number = 0; number <= 1_000; number += 1) ends.add(endThat(async () => number > 1, `call_${number}`));
    expect(left()).toEqual(['call_0']);

    await jest.advanceTimersByTimeAsync(dayMs - minuteMs);
    expect(left()).toEqual(['call_0']);
    await jest.advanceTimersByTimeAsync(2 * minuteMs);
    expect(left()).toEqual(['call_0', 'call_1']);
  });

  it('logs what it drops when its process ends', async () => {
    const { ends, warn, close } = around({ connected: false });
    ends.add(endThat(async () => false));

    close();
    await jest.advanceTimersByTimeAsync(0);

    expect(warn).toHaveBeenCalledWith({ runId: 'run_1', callId: 'call_1', attempt: 1 }, expect.any(String));
  });
});

const createKey = ({ run_id, id, attempt }: ToolCall) => ({ runId: run_id, callId: id, attempt });
