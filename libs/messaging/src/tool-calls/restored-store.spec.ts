import { setTimeout as sleep } from 'node:timers/promises';
import { type ToolCall, threadId } from '@rondo/contract';
import { OwnNatsServer } from '../testing/own-nats-server';
import { ToolCallFixture, aCall, endlessWork, never, says } from '../testing/tool-call-fixture';

describe('tool calls when NATS comes back with an older state of its store', () => {
  let server: OwnNatsServer;
  let bench: ToolCallFixture;
  beforeAll(async () => {
    server = await OwnNatsServer.start();
  });
  beforeEach(() => (bench = new ToolCallFixture(server.url)));
  afterEach(() => bench.close());
  afterAll(() => server.stop());

  const keyOf = ({ run_id, id, attempt }: ToolCall) => ({ runId: run_id, callId: id, attempt });
  const records = () => bench.records();

  const replyTo = async (call: ToolCall) => {
    const stored = await records();
    for (;;) {
      const reply = await stored.reply(keyOf(call)).catch(() => undefined);
      if (reply) return reply;
      await sleep(20);
    }
  };

  /** An executor that counts what it runs. */
  const counting = async () => {
    const seen: number[] = [];
    const executor = await bench.executor(async ({ attempt }) => {
      seen.push(attempt);
      return says('done');
    });
    return { seen, ...executor };
  };

  it.each(['unsafe', 'idempotent', 'keyed'] as const)(
    'does not run an answered %s call again that is back in the queue (I5)',
    async (effect) => {
      const call = aCall(effect);
      const tools = await bench.worker(call.run_id);
      const answer = tools.execute(call, never);
      await bench.queued(call);
      const before = await server.copyOfStore((text) => text.includes(call.id));
      const { seen } = await counting();
      expect(await answer).toMatchObject({ how: 'answered' });

      await server.restartWith(before);

      expect(await replyTo(call)).toMatchObject({ how: 'unknown' });
      expect(seen).toEqual([1]);
    },
  );

  it('does not run it again in another process either, and tells the next holder of the run that it is unknown (I5)', async () => {
    const call = aCall('unsafe');
    const first = await bench.worker(call.run_id);
    const answer = first.execute(call, never);
    await bench.queued(call);
    const { store } = first;
    const before = await server.copyOfStore((text) => text.includes(call.id));
    const executor = await counting();
    await answer;
    await executor.die();

    await server.restartWith(before);
    const work = endlessWork();
    await bench.executor(work.handle);
    const next = await bench.worker(call.run_id);

    expect(await next.reattach({ call, store }, never)).toMatchObject({ how: 'unknown' });
    expect(work.calls).toEqual([]);
  });

  it('does not send a call again whose traces are gone (I5)', async () => {
    const call = aCall('unsafe');
    const first = await bench.worker(call.run_id);
    await (await records()).taker(keyOf(call));
    const { store } = first;
    const before = await server.copyOfStore((text) => text.includes('TOOL_TAKERS'));
    const { seen } = await counting();
    await first.execute(call, never);

    await server.restartWith(before);
    const next = await bench.worker(call.run_id);

    expect(await next.reattach({ call, store }, never)).toMatchObject({ how: 'unknown' });
    expect(seen).toEqual([1]);
  });

  it('does not say of a stopped call that it is dead, or never ran, that an executor had taken (I7)', async () => {
    const call = aCall('unsafe');
    const link = await bench.nats.link();
    const { answer, stop } = await bench.stoppable(call, { link, timing: { stopTimeoutMs: 1_000 } });
    await bench.queued(call);
    const before = await server.copyOfStore((text) => text.includes(call.id));
    const work = endlessWork();
    const executor = await bench.executor(work.handle);
    await work.begun;
    await executor.die();

    const back = new Promise<void>((resolve) => link.onReconnect(resolve));
    await server.restartWith(before);
    await back;
    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: null });
  });

  it('leaves a call unknown that waited while the server was started anew, and runs the next attempt', async () => {
    const call = aCall('idempotent');
    const tools = await bench.worker(call.run_id);
    const answer = tools.execute(call, never);
    await bench.queued(call);
    await server.copyOfStore((text) => text.includes(call.id));

    await server.restart();
    const { seen } = await counting();

    expect(await answer).toMatchObject({ how: 'unknown' });
    expect(await tools.execute({ ...call, attempt: 2 }, never)).toMatchObject({ how: 'answered' });
    expect(seen).toEqual([2]);
  });

  it('runs a call of an older worker, which does not say what it was sent into', async () => {
    const planned = aCall('unsafe');
    const { run_id, id, name, arguments: given, effect_class } = planned;
    const call = { call_id: id, run_id, name, arguments: given, effect_class, attempt: 1, timeout_ms: 1_000 };
    const stored = await records();
    await stored.taker(keyOf(planned)); // the streams are there
    stored.dispatch({ ...call, thread_id: threadId.parse('thr_1') });
    const { seen } = await counting();

    expect(await replyTo(planned)).toMatchObject({ how: 'answered' });
    expect(seen).toEqual([1]);
  });

  it('lets a call go on that runs while the server is started anew', async () => {
    const call = aCall('unsafe');
    let finish = (): void => undefined;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await bench.executor(async () => {
      begin();
      await new Promise<void>((resolve) => (finish = resolve));
      return says('survived');
    });
    const tools = await bench.worker(call.run_id);
    const answer = tools.execute(call, never);
    await begun;

    await server.restart();
    finish();

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'survived' } });
  });
});

describe('tool calls when the connection to a living server was lost', () => {
  let bench: ToolCallFixture;
  beforeEach(() => (bench = new ToolCallFixture()));
  afterEach(() => bench.close());

  it.each(['unsafe', 'idempotent'] as const)('runs an %s call that waited in the queue', async (effect) => {
    const call = aCall(effect);
    const [worker, executor] = [await bench.nats.severableLink(), await bench.nats.severableLink()];
    const tools = await bench.worker(call.run_id, { link: worker.link });
    const answer = tools.execute(call, never);
    await bench.queued(call);

    await Promise.all([worker.proxy.cut(), executor.proxy.cut()]);
    await Promise.all([worker.proxy.mend(), executor.proxy.mend()]);
    await bench.executor(() => Promise.resolve(says('noon')), { link: executor.link });

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'noon' } });
  });
});
