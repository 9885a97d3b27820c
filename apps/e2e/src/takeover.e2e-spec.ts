import { type RondoClient, RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from './log-expectations';

/** Longer than a test, so that no takeover is caused by an expired lease. */
const lease = { LEASE_MS: '120000' };
const settledWithinMs = 60_000;

describe('with leases that outlast the test', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      leases: 'production',
      settings: { 'agent-worker': lease, summarizer: lease },
    });
    client = rondo.client();
  });

  afterAll(() => rondo.stop());

  it('the runs of a killed worker continue with the next one (I3, I5)', async () => {
    const task = scriptInput('kill', [
      { calls: [command('echo 1 >> effects; sleep 2; cat effects')] },
      { text: 'Done.' },
    ]);
    const run = await client.createRun(task);
    await client.waitForEvent(run.id, 'tool.started');

    await rondo.services.get('agent-worker').kill();

    expect(await client.waitForRun(run.id, settledWithinMs)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(facts.at(-1)?.epoch).toBe(2);
    expect(await client.toolOutputs(run.id)).toEqual(['1\n']);
  });

  it.each(['SIGKILL', 'SIGINT'] as const)(
    'a restart of Postgres by %s makes no worker lose its runs',
    async (signal) => {
      const run = await client.createRun(
        scriptInput(signal, [{ text: 'word '.repeat(120), pace_ms: 50, chunk_chars: 5 }]),
      );
      await client.waitForEvent(run.id, 'message.delta');
      const postgres = rondo.infrastructure.get('postgres');

      if (signal === 'SIGKILL') await postgres.kill();
      else await postgres.stop();
      await postgres.start();

      expect(await client.waitForRun(run.id, settledWithinMs)).toMatchObject({ status: 'completed' });
      const facts = await client.facts(run.id);
      expectWholeLog(facts);
      expect(facts.map(({ epoch }) => epoch)).not.toContain(2);
    },
  );

  it('a run outlives stops of the worker and its model together, more of them than a reply has attempts', async () => {
    const run = await client.createRun(
      scriptInput('together', [{ text: 'word '.repeat(200), pace_ms: 20, chunk_chars: 5 }]),
    );
    const [model, worker] = [rondo.services.get('demo-model'), rondo.services.get('agent-worker')];

    for (let stops = 0; stops < 4; stops += 1) {
      await client.waitForEvent(run.id, 'message.delta');
      await Promise.all([model.stop(), worker.stop()]);
      await model.start();
      await worker.start();
    }

    expect(await client.waitForRun(run.id, settledWithinMs)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(facts.filter(({ type }) => type === 'iteration.restarted')).toHaveLength(4);
  });
});
