import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy } from 'nats';
import type { NatsLink } from '../connection/nats-link';
import { ToolCallFixture, aCall, endlessWork, never, answered } from '../testing/tool-call-fixture';
import { createToolStreams } from '../testing/test-nats';

describe('tool calls while executors die and NATS goes away', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  it('answers unknown for an unsafe call whose executor died while it ran (I5)', async () => {
    const call = aCall('unsafe');
    const work = endlessWork();
    const dying = await fixture.executor(work.handle);
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await work.begun;

    await dying.die();
    const second = endlessWork();
    await fixture.executor(second.handle);

    expect(await answer).toEqual({ how: 'unknown', reason: 'The executor died while the tool ran.' });
    expect(second.calls).toEqual([]);
  });

  it('runs another attempt of the same call, and does not confuse the answers of the two', async () => {
    const call = aCall('idempotent');
    const work = endlessWork();
    const dying = await fixture.executor(work.handle);
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await work.begun;
    await dying.die();
    const seen: number[] = [];
    await fixture.executor(async ({ attempt }) => {
      seen.push(attempt);
      return answered('again');
    });
    expect(await answer).toMatchObject({ how: 'unknown' });

    expect(await tools.execute({ ...call, attempt: 2 }, never)).toMatchObject({ result: { output: 'again' } });
    expect(seen).toEqual([2]);
  });

  it('ends an attempt that timed out before the next one begins', async () => {
    const call = aCall('keyed');
    const order: string[] = [];
    await fixture.executor(async ({ attempt }, { signal }) => {
      order.push(`attempt ${attempt} begins`);
      if (attempt > 1) return answered('in time');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await sleep(300);
      order.push('attempt 1 ends');
      return { how: 'stopped', verified_dead_at: new Date().toISOString() };
    });
    const impatient = { toolTimeoutMs: 100, timing: { patienceMs: 100 } };
    const first = await fixture.worker(call.run_id, impatient);
    expect(await first.execute(call, never)).toMatchObject({ how: 'unknown' });

    const second = await fixture.worker(call.run_id);
    expect(await second.execute({ ...call, attempt: 2 }, never)).toMatchObject({ result: { output: 'in time' } });
    expect(order).toEqual(['attempt 1 begins', 'attempt 1 ends', 'attempt 2 begins']);
  });

  it('returns the late answer of an earlier attempt instead of running the call again (I5)', async () => {
    const call = aCall('unsafe');
    let runs = 0;
    await fixture.executor(async (_, { signal }) => {
      runs += 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return answered('done after all');
    });
    const first = await fixture.worker(call.run_id, { toolTimeoutMs: 100, timing: { patienceMs: 100 } });
    expect(await first.execute(call, never)).toMatchObject({ how: 'unknown' });
    await replied(call);

    const second = await fixture.worker(call.run_id);
    expect(await second.execute({ ...call, attempt: 2 }, never)).toMatchObject({
      result: { output: 'done after all' },
    });
    expect(runs).toBe(1);
  });

  it('acknowledges a long call as in progress, so that it is not delivered again', async () => {
    const call = aCall('idempotent');
    let runs = 0;
    await fixture.executor(async () => {
      runs += 1;
      await sleep(2_500);
      return answered('long');
    });
    const tools = await fixture.worker(call.run_id);

    expect(await tools.execute(call, never)).toMatchObject({ result: { output: 'long' } });
    expect(runs).toBe(1);
  });

  it('does not start a call again that is delivered again while it runs', async () => {
    const call = aCall('idempotent');
    const { link, proxy } = await fixture.nats.severableLink();
    let runs = 0;
    let finish = (): void => undefined;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await fixture.executor(
      async () => {
        runs += 1;
        begin();
        await new Promise<void>((resolve) => (finish = resolve));
        return answered('once');
      },
      { link },
    );
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await begun;

    await proxy.cut();
    await sleep(1_500); // longer than the ack wait, without an acknowledgement
    const back = reconnected(link);
    await proxy.mend();
    await back;
    await deliveredAgain();
    await link.connection.flush(); // everything that was sent before has arrived
    finish();

    expect(await answer).toMatchObject({ result: { output: 'once' } });
    expect(runs).toBe(1);
  });

  it('does not run a call again whose earlier answer is stored', async () => {
    const call = aCall('idempotent');
    const executor = await fixture.executor(() => Promise.resolve(answered('first')));
    const tools = await fixture.worker(call.run_id);
    await tools.execute(call, never);
    await executor.die();
    const link = await fixture.nats.link();
    const late = { ...dispatched(call), attempt: 2 };
    await createToolStreams(link).jetstream.publish(
      link.names.toolCalls.one('exec', { runId: call.run_id, callId: call.id, attempt: 2 }),
      JSON.stringify(late),
    );

    const work = endlessWork();
    await fixture.executor(work.handle, { concurrency: 1 });
    const other = aCall('pure');
    const next = await fixture.worker(other.run_id);
    void next.execute(other, never).catch(() => undefined);
    await work.begun;

    expect(work.calls.map(({ call_id }) => call_id)).toEqual([other.id]);
  });

  it('waits for NATS when it is away while a call is sent', async () => {
    const call = aCall();
    const { link, proxy } = await fixture.nats.severableLink();
    const tools = await fixture.worker(call.run_id, { link });
    await fixture.executor(() => Promise.resolve(answered('noon')));
    await proxy.cut();
    const answer = tools.execute(call, never);

    await proxy.mend();

    expect(await answer).toMatchObject({ result: { output: 'noon' } });
  });

  it('sends a call again that was lost in transit, even an unsafe one', async () => {
    const call = aCall('unsafe');
    const link = await fixture.nats.link();
    const tools = await fixture.worker(call.run_id, { link });
    await fixture.executor(() => Promise.resolve(answered('noon')));
    await createToolStreams(link).ensure();
    jest.spyOn(link.connection, 'publish').mockImplementationOnce(() => undefined);

    expect(await tools.execute(call, never)).toMatchObject({ result: { output: 'noon' } });
  });

  it('finds the answer that was stored while the worker was disconnected', async () => {
    const call = aCall();
    const { link, proxy } = await fixture.nats.severableLink();
    const tools = await fixture.worker(call.run_id, { link });
    let finish = (): void => undefined;
    const begun = new Promise<void>((begin) => {
      void fixture.executor(async () => {
        begin();
        await new Promise<void>((resolve) => (finish = resolve));
        return answered('stored meanwhile');
      });
    });
    const answer = tools.execute(call, never);
    await begun;

    await proxy.cut();
    finish();
    await replied(call);
    await proxy.mend();

    expect(await answer).toMatchObject({ result: { output: 'stored meanwhile' } });
  });

  it('lets an unsafe call go on when NATS loses its data while it runs (I1)', async () => {
    const call = aCall('unsafe');
    const executorSide = await fixture.nats.severableLink();
    const workerSide = await fixture.nats.severableLink();
    let finish = (): void => undefined;
    let runs = 0;
    await fixture.executor(
      async () => {
        runs += 1;
        await new Promise<void>((resolve) => (finish = resolve));
        return answered('survived');
      },
      { link: executorSide.link },
    );
    const tools = await fixture.worker(call.run_id, { link: workerSide.link });
    const answer = tools.execute(call, never);
    await claimed(call);

    await Promise.all([executorSide.proxy.cut(), workerSide.proxy.cut()]);
    await fixture.nats.loseStreams();
    await executorSide.proxy.mend();
    await claimed(call);
    const requested = claimantRequests(workerSide.link);
    await workerSide.proxy.mend();
    await Promise.race([answer, requested.atLeast(4)]); // the second check without a record ends it
    finish();

    expect(await answer).toMatchObject({ result: { output: 'survived' } });
    expect(runs).toBe(1);
  });

  it('answers unknown for a queued call that NATS has lost, and runs the next attempt', async () => {
    const call = aCall('pure');
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await fixture.queued(call);

    await fixture.nats.loseStreams();
    await fixture.executor(({ attempt }) => Promise.resolve(answered(`attempt ${attempt}`)));

    expect(await answer).toMatchObject({ how: 'unknown' });
    const next = tools.execute({ ...call, attempt: 2 }, never);
    expect(await next).toMatchObject({ how: 'answered', result: { output: 'attempt 2' } });
  });

  it('creates streams again that someone has deleted while all connections stayed', async () => {
    const newLink = () => fixture.nats.link();
    const [executorLink, idleLink, link] = await Promise.all([newLink(), newLink(), newLink()]);
    createToolStreams(executorLink, { createsStreams: false });
    await fixture.executor(({ call_id: id }) => Promise.resolve(answered(id)), { link: executorLink });
    for (const own of [idleLink, link]) createToolStreams(own, { lookAgainAfterMs: 0 });
    const run = async (own: NatsLink, call = aCall('unsafe')) =>
      (await fixture.worker(call.run_id, { link: own })).execute(call, never);
    await Promise.all([run(link), run(idleLink)]);
    await fixture.nats.loseStreams();

    expect(await run(link)).toMatchObject({ how: 'answered', result: { success: true } });
    expect(await run(idleLink)).toMatchObject({ how: 'answered', result: { success: true } });
  });

  it('replaces a consumer that exists and goes on delivering nothing', async () => {
    const call = aCall('unsafe');
    const link = await fixture.nats.link();
    const { stream, of } = link.names.toolCalls;
    await fixture.executor(({ call_id: id }) => Promise.resolve(answered(id)));
    const tools = await fixture.worker(call.run_id);
    await tools.execute(aCall('unsafe', call.run_id), never);
    const { consumers } = await createToolStreams(link).manager;
    await consumers.delete(stream, 'exec');
    // It delivers where no process listens, and answers no pull, as one that has lost its leader in a cluster.
    const silent = { durable_name: 'exec', filter_subject: of('exec'), deliver_subject: link.newInbox() };
    await consumers.add(stream, { ...silent, ack_policy: AckPolicy.Explicit });

    expect(await tools.execute(call, never)).toMatchObject({ how: 'answered', result: { output: call.id } });
  });

  it('drops a malformed call with one log line and handles the next', async () => {
    const link = await fixture.nats.link();
    await createToolStreams(link).ensure();
    const bad = link.names.toolCalls.one('exec', { runId: 'run_bad', callId: 'call_bad', attempt: 1 });
    await createToolStreams(link).jetstream.publish(bad, '{"call_id": "nonsense"');
    await createToolStreams(link).jetstream.publish(`${bad}2`, '{"call_id": "nonsense"}');
    const call = aCall();
    await fixture.executor(() => Promise.resolve(answered('fine')), { concurrency: 1 });
    const tools = await fixture.worker(call.run_id);

    expect(await tools.execute(call, never)).toMatchObject({ result: { output: 'fine' } });
    expect(fixture.nats.log.lines.filter((line) => line === 'malformed message dropped')).toHaveLength(2);
  });

  it('answers that a result or its arguments are too large, instead of retrying without end', async () => {
    const call = aCall();
    const tools = await fixture.worker(call.run_id);
    await fixture.executor(() => Promise.resolve(answered('x'.repeat(9_000_000))));

    expect(await tools.execute(call, never)).toMatchObject({ how: 'answered', result: { success: false } });
    const huge = { ...aCall('unsafe', call.run_id), arguments: { command: 'x'.repeat(9_000_000) } };
    expect(await tools.execute(huge, never)).toMatchObject({ how: 'answered', result: { success: false } });
  });

  it('lets running calls finish within the grace period when the executor closes, then aborts them and replies', async () => {
    const call = aCall();
    const work = endlessWork();
    const { consumer } = await fixture.executor(work.handle);
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await work.begun;

    await consumer.close({ graceMs: 20, reason: new Error('deploy') });

    expect(await answer).toMatchObject({ how: 'stopped' });
    expect(consumer.load).toEqual({ running: 0, waiting: 0 });
  });

  const claimed = (call: ReturnType<typeof aCall>) => seen(call, 'toolTakers');
  const replied = (call: ReturnType<typeof aCall>) => seen(call, 'toolResults');

  async function deliveredAgain(): Promise<void> {
    const link = await fixture.nats.link();
    const [toolStreams, { names }] = [createToolStreams(link), link];
    const { consumers } = await toolStreams.manager;
    while ((await consumers.info(names.toolCalls.stream, 'exec')).num_redelivered === 0) await sleep(20);
  }

  async function seen(
    { run_id, id, attempt }: ReturnType<typeof aCall>,
    what: 'toolTakers' | 'toolResults',
  ): Promise<void> {
    const { connection, names } = await fixture.nats.link();
    const { stream, one } = names[what];
    const look = () =>
      connection.request(`$JS.API.DIRECT.GET.${stream}.${one('exec', { runId: run_id, callId: id, attempt })}`);
    while ((await look().catch(() => undefined))?.headers?.code !== 0) await sleep(20);
  }
});

const reconnected = (link: { onReconnect(listener: () => void): () => void }) =>
  new Promise<void>((resolve) => {
    const off = link.onReconnect(() => {
      off();
      resolve();
    });
  });

/** Counts how often this link has requested the claimant of a call. */
function claimantRequests({ requests, names }: NatsLink) {
  const spy = jest.spyOn(requests, 'request');
  const count = () => spy.mock.calls.filter(([subject]) => subject.includes(`.${names.toolTakers.stream}.`)).length;
  return {
    atLeast: async (times: number) => {
      while (count() < times) await sleep(20);
    },
  };
}

const dispatched = (call: ReturnType<typeof aCall>) => ({
  call_id: call.id,
  run_id: call.run_id,
  thread_id: 'thr_1',
  name: call.name,
  arguments: call.arguments,
  effect_class: call.effect_class,
  timeout_ms: 1_000,
});
