import { setTimeout } from 'node:timers/promises';
import { type Fact, type RondoClient, RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from './log-expectations';

const library = process.env['TEST_FAKETIME'];

/** The variables with which a service has a clock that is wrong by two minutes. */
const withClock = (skew: 'ahead' | 'behind') => ({
  LD_PRELOAD: library ?? '',
  FAKETIME: skew === 'ahead' ? '+120s' : '-120s',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

/** Longer than two of the leases of tests. */
const longerThanLeases = 'echo 1 >> effects; sleep 7; cat effects';

const expectOrder = (facts: readonly Fact[]): void => {
  const times = facts.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
};

(library === undefined ? describe.skip : describe)('services whose clocks are two minutes ahead or behind', () => {
  let rondo: RunningRondo;
  let clients: readonly RondoClient[];

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'agent-worker', 'gateway', 'gateway'],
      settings: {
        'tool-executor': withClock('ahead'),
        'agent-worker': withClock('behind'),
        'agent-worker-2': withClock('ahead'),
        gateway: { SCHEDULE_LEAST_INTERVAL_S: '1', ...withClock('ahead') },
        'gateway-2': withClock('behind'),
      },
    });
    clients = [rondo.client('gateway'), rondo.client('gateway-2')];
  });
  afterAll(() => rondo.stop());

  const createRuns = (about: string, line: string) =>
    Promise.all(
      [1, 2, 3].flatMap((number) =>
        clients.map(async (client, gateway) => {
          const task = scriptInput(`${about} ${number} of ${gateway}`, [{ calls: [command(line)] }, { text: 'Done.' }]);
          return { client, id: (await client.createRun(task)).id };
        }),
      ),
    );

  it('keep their runs for longer than a lease, carry out each call once, and write no time before an earlier one', async () => {
    const begun = Date.now();
    const runs = await createRuns('long', longerThanLeases);

    for (const { client, id } of runs) {
      expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
      expect(await client.toolOutputs(id)).toEqual(['1\n']);
      const facts = await client.facts(id);
      expectWholeLog(facts);
      expectOrder(facts);
      expect(new Set(facts.map(({ epoch }) => epoch).filter((epoch) => epoch > 0))).toEqual(new Set([1]));
    }
    const [first] = await Promise.all(runs.map(({ client, id }) => client.facts(id)));
    expect(Math.abs(Date.parse(first?.[0]?.at ?? '') - begun)).toBeGreaterThan(100_000);
  });

  it('stop a run at once, whichever gateway is told and whichever worker holds it', async () => {
    const runs = await createRuns('stopped', 'sleep 60');

    for (const { client, id } of runs) {
      await client.waitForEvent(id, 'tool.started');
      const told = performance.now();
      await client.json('POST', `/runs/${id}/stop`, {});
      expect(await client.waitForRun(id)).toMatchObject({ status: 'stopped' });
      expect(performance.now() - told).toBeLessThan(5_000);
      const facts = await client.facts(id);
      expectWholeLog(facts);
      expectOrder(facts);
    }
  });

  it('continue the runs of a killed worker, and do nothing twice', async () => {
    const runs = await createRuns('killed', longerThanLeases);
    for (const { client, id } of runs) await client.waitForEvent(id, 'tool.started');

    await Promise.all(['agent-worker', 'agent-worker-2'].map((worker) => rondo.services.get(worker).kill()));

    for (const { client, id } of runs) {
      expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
      expect(await client.toolOutputs(id)).toEqual(['1\n']);
      const facts = await client.facts(id);
      expectWholeLog(facts);
      expectOrder(facts);
      expect(facts.at(-1)?.epoch).toBe(2);
    }
  });

  it('fire a schedule of every second once for each, by the clock of the database', async () => {
    const [client] = clients;
    if (!client) throw new Error('There is a gateway.');
    const begun = Date.now();
    const { id } = await client.json<{ id: string }>('POST', '/schedules', {
      ...{ name: 'every second', cron: '* * * * * *', missed: 'all', overlap: 'allow' },
      run: { input: 'Tick of {{due_at}}.', model: 'demo/plain' },
    });
    const listDue = async () => {
      const { data } = await client.json<{ data: { due_at: string }[] }>('GET', `/schedules/${id}/executions`);
      return data.map(({ due_at: due }) => Date.parse(due)).sort((one, other) => one - other); // the list is by the gateways' clocks
    };

    let due: number[];
    while ((due = await listDue()).length < 4) await setTimeout(100); // between two looks
    await client.json('POST', `/schedules/${id}/pause`);

    due = await listDue();
    expect(due).toEqual(due.map((_, index) => (due[0] ?? NaN) + 1_000 * index));
    expect(Math.abs((due[0] ?? NaN) - begun)).toBeLessThan(5_000);
  });
});
