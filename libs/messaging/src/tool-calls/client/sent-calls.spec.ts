import { setTimeout as sleep } from 'node:timers/promises';
import { createToolStreams } from '../../testing/test-nats';
import { ToolCallFixture, aCall, answered, endlessWork, never } from '../../testing/tool-call-fixture';
import { CallRecords } from '../call-records';
import { UnknownCalls } from './sent-calls';

describe('calls of a run that its log lacks', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  const find = async (run: ReturnType<typeof aCall>['run_id'], known: readonly string[]) => {
    const nats = await fixture.nats.link();
    return new UnknownCalls({ nats, streams: createToolStreams(nats) }).find({ runId: run, known: new Set(known) });
  };

  it('are found with what was called, answered or not, and those of other runs are not', async () => {
    const [known, lost] = [aCall(), { ...aCall(), name: 'execute_command', arguments: { command: 'echo "ü\n"' } }];
    await fixture.executor(async ({ call_id: id }) => answered(id));
    const tools = await fixture.worker(known.run_id);
    await tools.execute(known, never);
    await tools.execute(lost, never);
    const other = aCall();
    await (await fixture.worker(other.run_id)).execute(other, never);

    expect(await find(known.run_id, [known.id])).toMatchObject([
      { id: lost.id, name: 'execute_command', calledWith: JSON.stringify(lost.arguments) },
    ]);
    expect(await find(known.run_id, [known.id, lost.id])).toEqual([]);
  });

  it('that still run are ended', async () => {
    const call = aCall();
    const { handle, begun } = endlessWork();
    await fixture.executor(handle);
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    await begun;

    expect(await find(call.run_id, [])).toMatchObject([{ id: call.id }]);
    expect(await answer).toMatchObject({ how: 'stopped' });
  });

  it('that wait in the queue are withdrawn, and do not count', async () => {
    const call = aCall();
    const tools = await fixture.worker(call.run_id);
    void tools.execute(call, never).catch(() => undefined); // no executor takes it
    const nats = await fixture.nats.link();
    const records = new CallRecords(nats, createToolStreams(nats), 'exec');
    const key = { runId: call.run_id, callId: call.id, attempt: call.attempt };
    while (!(await records.isQueued(key).catch(() => false))) await sleep(5);

    expect(await find(call.run_id, [])).toEqual([]);
    expect(await records.claimant(key)).toBe('withdrawn');
  });

  it('of many runs that ask at once cost as many requests as those of two', async () => {
    await fixture.executor(async ({ call_id: id }) => answered(id));
    const lost = Array.from({ length: 40 }, () => aCall());
    for (const call of lost) await (await fixture.worker(call.run_id)).execute(call, never);
    const nats = await fixture.nats.link();
    let requests = 0;
    nats.connection.subscribe('$JS.EVENT.ADVISORY.API', { callback: () => (requests += 1) });
    const calls = new UnknownCalls({ nats, streams: createToolStreams(nats) });

    const found = await Promise.all(lost.map(({ run_id: runId }) => calls.find({ runId, known: new Set() })));

    expect(found.map((ofRun) => ofRun.map(({ id }) => id))).toEqual(lost.map(({ id }) => [id]));
    await nats.connection.flush();
    expect(requests).toBeGreaterThan(0);
    expect(requests).toBeLessThan(lost.length);
  });
});
