import { type CallId, toFailedResult } from '@rondo/contract';
import { TransientError } from '@rondo/domain';
import { ToolCallFixture, aCall, answered, endlessWork, never } from '../../testing/tool-call-fixture';
import type { ToolReply } from '../wire-format';
import type { SandboxMoves } from './nats-tools';

const elsewhere: ToolReply = {
  how: 'answered',
  result: toFailedResult('Not executed.'),
  duration_ms: 0,
  is_elsewhere: true,
};
const doneAt = (executor: string) => ({ how: 'answered', result: { success: true, output: executor }, durationMs: 1 });

describe('calls of a thread whose sandbox moves', () => {
  let fixture: ToolCallFixture;
  /** The executor that hosts the thread now. */
  let host: string;
  let lost: Set<string>;
  let unsent: (readonly CallId[])[];
  let refusals: Error[];
  const moves: SandboxMoves = {
    isLost: (executorId) => lost.has(executorId),
    readHost: (_, given) => {
      unsent.push(given);
      const refusal = refusals.pop();
      return refusal ? Promise.reject(refusal) : Promise.resolve(host);
    },
  };

  beforeEach(() => {
    fixture = new ToolCallFixture();
    [host, lost, unsent, refusals] = ['exe_next', new Set(), [], []];
  });
  afterEach(() => fixture.close());

  /** Whose thread was at exe_lost when its run was claimed. */
  const worker = (call = aCall()) => fixture.worker(call.run_id, { executorId: 'exe_lost', moves });
  const executor = (executorId: string) =>
    fixture.executor(() => Promise.resolve(answered(executorId)), { executorId });

  it.each(['unsafe', 'pure'] as const)(
    'go to the executor that hosts it now, when the former is lost (%s)',
    async (of) => {
      const call = aCall(of);
      const tools = await worker(call);
      await executor('exe_next');
      lost.add('exe_lost');

      expect(await tools.execute(call, never)).toEqual(doneAt('exe_next'));
      expect(await tools.execute(aCall(of, call.run_id), never)).toEqual(doneAt('exe_next'));

      expect(unsent).toEqual([[call.id]]);
    },
  );

  it('wait while it is being restored', async () => {
    const call = aCall();
    const tools = await worker(call);
    await executor('exe_next');
    lost.add('exe_lost');
    refusals = [new TransientError('restoring'), new TransientError('restoring')];

    expect(await tools.execute(call, never)).toEqual(doneAt('exe_next'));
  });

  it('are withdrawn from the lost executor, which never runs them, and go to the next one (I5)', async () => {
    const sent = aCall();
    const tools = await worker(sent);
    const answer = tools.execute(sent, never);
    await fixture.queued(sent, 'exe_lost');
    await executor('exe_next');
    lost.add('exe_lost');

    expect(await answer).toEqual(doneAt('exe_next'));

    const back = endlessWork();
    await fixture.executor(back.handle, { executorId: 'exe_lost' });
    const later = aCall();
    const known = await fixture.worker(later.run_id, { executorId: 'exe_lost' });
    void known.execute(later, never).catch(() => undefined);
    await back.begun;
    expect(back.calls.map(({ call_id }) => call_id)).toEqual([later.id]);
  });

  it('are not moved with it once it has claimed one, since only it knows what became of that (I5)', async () => {
    const claimed = aCall();
    const tools = await worker(claimed);
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    const begun = new Promise<void>((begin) => {
      void fixture.executor(async () => (begin(), await done, answered('exe_lost')), { executorId: 'exe_lost' });
    });
    const answer = tools.execute(claimed, never);
    await begun;
    await executor('exe_next');
    lost.add('exe_lost');
    const next = tools.execute(aCall('unsafe', claimed.run_id), never);

    finish(); // it comes back after all

    expect(await answer).toEqual(doneAt('exe_lost'));
    expect(await next).toMatchObject({ how: 'answered' });
    expect(unsent).toEqual([]);
  });

  it('that were sent by a former holder of the run are looked for where they were sent (I5)', async () => {
    const call = aCall();
    const records = await fixture.records('exe_lost');
    await records.storeReply({ runId: call.run_id, callId: call.id, attempt: 1 }, answered('done before'));
    lost.add('exe_lost');
    const tools = await worker(call);

    expect(await tools.reattach({ call, store: null }, never)).toEqual(doneAt('done before'));
  });

  it('are sent on when an executor that was away says that it does not host it any more', async () => {
    const call = aCall();
    const tools = await worker(call);
    let refused = 0;
    await fixture.executor(() => ((refused += 1), Promise.resolve(elsewhere)), { executorId: 'exe_lost' });
    await executor('exe_next');

    expect(await tools.execute(call, never)).toEqual(doneAt('exe_next'));
    expect(await tools.execute(aCall('unsafe', call.run_id), never)).toEqual(doneAt('exe_next'));

    expect(refused).toBe(1);
  });

  it('are answered as not executed where every executor says so', async () => {
    const call = aCall();
    host = 'exe_lost';
    const tools = await worker(call);
    await fixture.executor(() => Promise.resolve(elsewhere), { executorId: 'exe_lost' });

    expect(await tools.execute(call, never)).toMatchObject({ result: toFailedResult('Not executed.') });
  });
});
