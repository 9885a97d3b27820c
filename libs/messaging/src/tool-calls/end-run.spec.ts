import { callId, runId, threadId } from '@rondo/contract';
import type { StoppedTool } from '@rondo/domain';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { type RunInSandbox, answerRunEnds, requestRunEnd } from './end-run';

describe('what a run has left running', () => {
  let corner: TestNats;
  const run: RunInSandbox = { threadId: threadId.parse('thr_1'), runId: runId.parse('run_1') };
  const left: StoppedTool = {
    tool_call_id: callId.parse('call_1'),
    verified_dead_at: '2026-01-01T00:00:00.000Z',
    processes: ['node'],
  };
  let worker: NatsLink;
  let executor: NatsLink;

  beforeEach(async () => {
    corner = new TestNats();
    [worker, executor] = [await corner.link(), await corner.link()];
  });
  afterEach(() => corner.close());

  const listen = async (end: (run: RunInSandbox) => Promise<readonly StoppedTool[]>) => {
    const stop = answerRunEnds(executor, 'exe_1', end);
    await executor.ping();
    return stop;
  };

  it('is ended by the executor, which says what it was', async () => {
    const asked: RunInSandbox[] = [];
    await listen((about) => (asked.push(about), Promise.resolve([left])));

    expect(await requestRunEnd(worker, 'exe_1', run)).toEqual([left]);
    expect(asked).toEqual([run]);
  });

  it('is not taken for dead where the executor could not see it dead', async () => {
    await listen(() => Promise.reject(new Error('it is in uninterruptible sleep')));

    expect(await requestRunEnd(worker, 'exe_1', run)).toBeUndefined();
    expect(corner.log.lines).toContain('what a run left running could not be ended');
  });

  it('is not taken for dead where no executor listens, or none any more', async () => {
    const stop = await listen(() => Promise.resolve([]));
    stop();
    await executor.ping();

    expect(await requestRunEnd(worker, 'exe_1', run)).toBeUndefined();
    expect(await requestRunEnd(worker, 'exe_2', run)).toBeUndefined();
  });

  it('is not taken for dead where the answer is nonsense', async () => {
    executor.connection.subscribe(executor.names.sandboxEnd('exe_1'), {
      callback: (_, message) => void message.respond('{"ended":[{"tool_call_id":"call_1","verified_dead_at":"now"}]}'),
    });
    await executor.ping();

    expect(await requestRunEnd(worker, 'exe_1', run)).toBeUndefined();
  });
});
