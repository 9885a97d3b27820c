import { setTimeout as sleep } from 'node:timers/promises';
import { type ToolCall, threadId } from '@rondo/contract';
import { OwnNatsServer } from '../testing/own-nats-server';
import { ToolCallFixture, aCall, endlessWork, never, answered } from '../testing/tool-call-fixture';

describe('tool calls when NATS restarts with an older state of its store', () => {
  let server: OwnNatsServer;
  let fixture: ToolCallFixture;
  beforeAll(async () => {
    server = await OwnNatsServer.start();
  });
  beforeEach(() => (fixture = new ToolCallFixture(server.url)));
  afterEach(() => fixture.close());
  afterAll(() => server.stop());

  const createKey = ({ run_id, id, attempt }: ToolCall) => ({ runId: run_id, callId: id, attempt });
  const records = () => fixture.records();

  const replyTo = async (call: ToolCall) => {
    const stored = await records();
    for (;;) {
      const reply = await stored.reply(createKey(call)).catch(() => undefined);
      if (reply) return reply;
      await sleep(20);
    }
  };

  /** An executor that records the attempts it runs. */
  const counting = async () => {
    const seen: number[] = [];
    const executor = await fixture.executor(async ({ attempt }) => {
      seen.push(attempt);
      return answered('done');
    });
    return { seen, ...executor };
  };

  it.each(['unsafe', 'idempotent', 'keyed'] as const)(
    'does not run an answered %s call again when the old store has it in the queue (I5)',
    async (effect) => {
      const call = aCall(effect);
      const tools = await fixture.worker(call.run_id);
      const answer = tools.execute(call, never);
      await fixture.queued(call);
      const before = await server.copyOfStore((text) => text.includes(call.id));
      const { seen } = await counting();
      expect(await answer).toMatchObject({ how: 'answered' });

      await server.restartWith(before);

      // Its executor may still know the answer. What counts is that it does not run the call again.
      expect(['unknown', 'answered']).toContain((await replyTo(call)).how);
      expect(seen).toEqual([1]);
    },
  );

  it('does not run it again in another process either, and answers unknown to the next holder of the run (I5)', async () => {
    const call = aCall('unsafe');
    const first = await fixture.worker(call.run_id);
    const answer = first.execute(call, never);
    await fixture.queued(call);
    const { store } = first;
    const before = await server.copyOfStore((text) => text.includes(call.id));
    const executor = await counting();
    await answer;
    await executor.die();

    await server.restartWith(before);
    const work = endlessWork();
    await fixture.executor(work.handle);
    const next = await fixture.worker(call.run_id);

    expect(await next.reattach({ call, store }, never)).toMatchObject({ how: 'unknown' });
    expect(work.calls).toEqual([]);
  });

  it('does not send a call again whose records were lost (I5)', async () => {
    const call = aCall('unsafe');
    const first = await fixture.worker(call.run_id);
    await (await records()).claimant(createKey(call));
    const { store } = first;
    const before = await server.copyOfStore((text) => text.includes('TOOL_TAKERS'));
    const { seen } = await counting();
    await first.execute(call, never);

    await server.restartWith(before);
    const next = await fixture.worker(call.run_id);

    expect(await next.reattach({ call, store }, never)).toMatchObject({ how: 'unknown' });
    expect(seen).toEqual([1]);
  });

  it('does not report a stopped call as dead when the record of its claim was lost (I7)', async () => {
    const call = aCall('unsafe');
    const link = await fixture.nats.link();
    const { answer, stop } = await fixture.stoppable(call, { link, timing: { stopTimeoutMs: 1_000 } });
    await fixture.queued(call);
    const before = await server.copyOfStore((text) => text.includes(call.id));
    const work = endlessWork();
    const executor = await fixture.executor(work.handle);
    await work.begun;
    await executor.die();

    const back = new Promise<void>((resolve) => link.onReconnect(resolve));
    await server.restartWith(before);
    await back;
    stop.abort();

    expect(await answer).toEqual({ how: 'stopped', verifiedDeadAt: null });
  });

  it('answers unknown for a call that waited while the server restarted, and runs the next attempt', async () => {
    const call = aCall('idempotent');
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await fixture.queued(call);
    await server.copyOfStore((text) => text.includes(call.id));

    await server.restart();
    const { seen } = await counting();

    expect(await answer).toMatchObject({ how: 'unknown' });
    expect(await tools.execute({ ...call, attempt: 2 }, never)).toMatchObject({ how: 'answered' });
    expect(seen).toEqual([2]);
  });

  it('runs a call of an older worker, which does not name its store', async () => {
    const planned = aCall('unsafe');
    const { run_id, id, name, arguments: given, effect_class } = planned;
    const call = { call_id: id, run_id, name, arguments: given, effect_class, attempt: 1, timeout_ms: 1_000 };
    const stored = await records();
    await stored.claimant(createKey(planned)); // the streams exist now
    stored.dispatch({ ...call, thread_id: threadId.parse('thr_1') });
    const { seen } = await counting();

    expect(await replyTo(planned)).toMatchObject({ how: 'answered' });
    expect(seen).toEqual([1]);
  });

  it('lets a call go on that runs while the server restarts', async () => {
    const call = aCall('unsafe');
    let finish = (): void => undefined;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await fixture.executor(async () => {
      begin();
      await new Promise<void>((resolve) => (finish = resolve));
      return answered('survived');
    });
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await begun;

    await server.restart();
    finish();

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'survived' } });
  });
});

describe('tool calls when the connection to a running server was lost', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  it.each(['unsafe', 'idempotent'] as const)('runs an %s call that waited in the queue', async (effect) => {
    const call = aCall(effect);
    const [worker, executor] = [await fixture.nats.severableLink(), await fixture.nats.severableLink()];
    const tools = await fixture.worker(call.run_id, { link: worker.link });
    const answer = tools.execute(call, never);
    await fixture.queued(call);

    await Promise.all([worker.proxy.cut(), executor.proxy.cut()]);
    await Promise.all([worker.proxy.mend(), executor.proxy.mend()]);
    await fixture.executor(() => Promise.resolve(answered('noon')), { link: executor.link });

    expect(await answer).toMatchObject({ how: 'answered', result: { output: 'noon' } });
  });
});
