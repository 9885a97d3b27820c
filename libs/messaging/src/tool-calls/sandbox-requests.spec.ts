import { type ThreadId, accountId, callId, runId, threadId } from '@rondo/contract';
import type { StoppedTool } from '@rondo/domain';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { answerMcpLists, requestMcpList } from './mcp-requests';
import { type RunInSandbox, answerRemovals, answerRunEnds, requestRemoval, requestRunEnd } from './sandbox-requests';

const thread = threadId.parse('thr_1');
const pending = () => new Promise<void>(() => undefined);

let nats: TestNats;
let worker: NatsLink;
let executor: NatsLink;

beforeEach(async () => {
  nats = new TestNats();
  [worker, executor] = [await nats.link(), await nats.link()];
});
afterEach(() => nats.close());

describe('ending what a run left running', () => {
  const run: RunInSandbox = { threadId: threadId.parse('thr_1'), runId: runId.parse('run_1') };
  const left: StoppedTool = {
    tool_call_id: callId.parse('call_1'),
    verified_dead_at: '2026-01-01T00:00:00.000Z',
    processes: ['node'],
  };

  const listen = async (end: (run: RunInSandbox) => Promise<readonly StoppedTool[]>) => {
    const stop = answerRunEnds(executor, 'exe_1', end);
    await executor.ping();
    return stop;
  };

  it('returns what the executor has ended', async () => {
    const requested: RunInSandbox[] = [];
    await listen((about) => (requested.push(about), Promise.resolve([left])));

    expect(await requestRunEnd(worker, 'exe_1', run)).toEqual([left]);
    expect(requested).toEqual([run]);
  });

  it('returns undefined when the executor could not confirm that it is dead', async () => {
    await listen(() => Promise.reject(new Error('it is in uninterruptible sleep')));

    expect(await requestRunEnd(worker, 'exe_1', run)).toBeUndefined();
    expect(nats.log.lines).toContain('what a run left running could not be ended');
  });

  it('returns undefined when no executor is subscribed, or it no longer is', async () => {
    const stop = await listen(() => Promise.resolve([]));
    stop();
    await executor.ping();

    expect(await requestRunEnd(worker, 'exe_1', run)).toBeUndefined();
    expect(await requestRunEnd(worker, 'exe_2', run)).toBeUndefined();
  });

  it('returns undefined when the answer is malformed', async () => {
    executor.connection.subscribe(executor.names.sandboxEnd('exe_1'), {
      callback: (_, message) => void message.respond('{"ended":[{"tool_call_id":"call_1","verified_dead_at":"now"}]}'),
    });
    await executor.ping();

    expect(await requestRunEnd(worker, 'exe_1', run)).toBeUndefined();
  });
});

describe('removing a sandbox', () => {
  const listen = async (remove: (thread: ThreadId) => Promise<void>) => {
    const stop = answerRemovals(executor, 'exe_1', remove);
    await executor.ping();
    return stop;
  };

  it('returns true once the executor has removed it', async () => {
    const removed: ThreadId[] = [];
    await listen((id) => Promise.resolve(void removed.push(id)));

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(true);
    expect(removed).toEqual([thread]);
  });

  it('returns false when the executor could not remove it', async () => {
    await listen(() => Promise.reject(new Error('the disk is read-only')));

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(false);
    expect(nats.log.lines).toContain('sandbox could not be removed');
  });

  it('returns false when only another executor is subscribed', async () => {
    await listen(() => Promise.resolve());

    expect(await requestRemoval(worker, 'exe_2', thread)).toBe(false);
  });

  it('returns false after the timeout while the executor is still removing it, without delaying other requests', async () => {
    const slow = threadId.parse('thr_slow');
    await listen((id) => (id === slow ? pending() : Promise.resolve()));

    const [first, second] = [requestRemoval(worker, 'exe_1', slow), requestRemoval(worker, 'exe_1', thread)];

    expect(await second).toBe(true);
    expect(await first).toBe(false);
  });

  it('returns false once the executor has ended its subscription', async () => {
    const stop = await listen(() => Promise.resolve());

    stop();
    await executor.ping();

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(false);
  });

  it('returns false when the executor disconnects before it answers', async () => {
    let finish = (): void => undefined;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await listen(() => new Promise((resolve) => ((finish = resolve), begin())));

    const removal = requestRemoval(worker, 'exe_1', thread);
    await begun;
    await executor.close();
    finish();

    expect(await removal).toBe(false);
  });

  it('returns false at once while NATS is away', async () => {
    const { link, proxy } = await nats.severableLink();
    await proxy.cut();
    while (link.connected) await new Promise((resolve) => setTimeout(resolve, 5));

    const nextTurn = new Promise(setImmediate).then(() => 'it waits');

    expect(await Promise.race([requestRemoval(link, 'exe_1', thread), nextTurn])).toBe(false);
  });

  it.each(['not json', '{}', '{"thread_id":"../etc"}'])('drops the malformed request %j', async (text) => {
    const removed: ThreadId[] = [];
    await listen((id) => Promise.resolve(void removed.push(id)));

    worker.connection.publish(worker.names.sandboxForget('exe_1'), text);
    await worker.ping();

    expect(await requestRemoval(worker, 'exe_1', thread)).toBe(true);
    expect(removed).toEqual([thread]);
    expect(nats.log.lines).toContain('malformed message dropped');
  });
});

describe('a request that fails at its executor', () => {
  it('is given up at once, however long it might take, so that another executor can be asked', async () => {
    answerMcpLists(executor, 'exe_1', () => Promise.reject(new Error('it is shutting down')));
    await executor.ping();

    const listed = requestMcpList(worker, 'exe_1', {
      ...{ thread_id: thread, run_id: runId.parse('run_1'), account_id: accountId.parse('acc_1') },
      ...{ server: { name: 'slow', transport: 'stdio', command: 'sleep 60' }, start_ms: 3_600_000 },
    });

    expect(await listed).toBeUndefined();
    expect(nats.log.lines).toContain('sandbox request failed');
  });
});
