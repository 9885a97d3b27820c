import {
  type Fact,
  type RondoClient,
  type RunView,
  type RunningRondo,
  command,
  scriptInput,
} from '@rondo/test-deployment';
import { expectShownAsStored, expectWholeLog } from '../log-expectations';
import { atOtherGateway, newAccount, startPaired } from '../shared-deployment';

/** Three iterations with a slow command each, and one that prints their effects to be counted. */
const task = (about: string) =>
  scriptInput(about, [
    ...[1, 2, 3].map((n) => ({
      text: `Step ${n}. `.repeat(20),
      pace_ms: 5,
      calls: [command(`echo ${n} >> effects; sleep 0.4; echo did ${n}`)],
    })),
    { calls: [command('cat effects')] },
    { text: 'All done. '.repeat(30), pace_ms: 5 },
  ]);

describe('kill -9 (I1–I5, I8)', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await startPaired();
    client = atOtherGateway(rondo, await newAccount(rondo));
  });

  const start = (about: string, count = 6): Promise<RunView[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => client.createRun(task(`${about} ${n}`))));

  /** Kills the services in turn, one per second, until every run has ended. */
  const killRepeatedly = async (runs: readonly RunView[], victims: readonly string[]): Promise<RunView[]> => {
    const progress = { isOver: false };
    const settled = Promise.all(runs.map(({ id }) => client.waitForRun(id, 100_000))).finally(
      () => (progress.isOver = true),
    );
    for (let kills = 0; kills < 6 && !progress.isOver; kills++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000)); // the interval between faults
      await rondo.services.get(victims[kills % victims.length] ?? '').kill();
    }
    return settled;
  };

  it('of agent-workers: every run completes, and no command runs twice', async () => {
    const runs = await start('workers');
    const watched = client.watch(runs[0]?.id ?? '');

    const settled = await killRepeatedly(runs, ['agent-worker', 'agent-worker-2']);

    expect(settled.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    for (const { id } of runs) {
      const facts = await client.facts(id);
      expectWholeLog(facts);
      expect(findEffects(facts)).toBe('1\n2\n3\n');
      expect(new Set(facts.map(({ type }) => type))).not.toContain('tool.unknown');
    }
    expectShownAsStored(await watched, await client.facts(runs[0]?.id ?? ''));
  });

  it('of the worker of a run that was just told something: the run reads it once', async () => {
    const runs = await start('told', 3);
    await Promise.all(runs.map(({ id }) => client.waitForEvent(id, 'tool.started')));
    const told = await Promise.all(
      runs.map(({ thread_id }) =>
        client.createRun({ thread_id, model: 'demo/plain', input: 'In blue.', on_active_run: 'steer' }),
      ),
    );
    for (const worker of ['agent-worker', 'agent-worker-2']) await rondo.services.get(worker).kill();

    for (const [index, run] of runs.entries()) {
      const queued = (told[index] as { steered?: { queued_run_id: string } }).steered?.queued_run_id ?? '';
      expect(told[index]?.id).toBe(run.id);
      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
      const facts = await client.facts(run.id);
      expectWholeLog(facts);
      expect(facts.filter(({ data }) => data.message?.metadata.queued_as === queued)).toHaveLength(1);
      expect(await client.waitForRun(queued)).toMatchObject({ status: 'stopped', started_at: null });
    }
  });

  it('of the tool-executor: its running calls are unknown and never run twice', async () => {
    const runs = await start('executor');

    const settled = await killRepeatedly(runs, ['tool-executor']);

    expect(settled.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    for (const run of runs) {
      const facts = await client.facts(run.id);
      expectWholeLog(facts);
      const effects = await effectsIn(client, run);
      expect(effects).toEqual([...new Set(effects)]);
      expect(effects).toEqual(expect.arrayContaining(stepsDone(facts)));
    }
  });

  it('of a gateway: clients continue at another', async () => {
    const runs = await start('gateway', 3);

    const settled = await killRepeatedly(runs, ['gateway']);

    expect(settled.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    for (const { id } of runs) expect(findEffects(await client.facts(id))).toBe('1\n2\n3\n');
  });

  it('of Redis with all its data: runs continue, and new ones start (I1)', async () => {
    const before = await start('redis', 3);
    const redis = rondo.infrastructure.get('redis');
    await redis.kill();
    const during = await start('redis is away', 2);
    await redis.start();

    const settled = await Promise.all([...before, ...during].map(({ id }) => client.waitForRun(id, 60_000)));

    expect(settled.map(({ status }) => status)).toEqual(settled.map(() => 'completed'));
  });

  it('of NATS: calls wait and continue when it is back', async () => {
    const runs = await start('nats', 3);
    const nats = rondo.infrastructure.get('nats');
    await nats.kill();
    await nats.start();

    const settled = await Promise.all(runs.map(({ id }) => client.waitForRun(id, 60_000)));

    expect(settled.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    for (const { id } of runs) expectWholeLog(await client.facts(id));
  });

  it('of Postgres: runs pause and continue when it is back', async () => {
    const runs = await start('postgres', 3);
    const postgres = rondo.infrastructure.get('postgres');
    await postgres.kill();
    await postgres.start();

    const settled = await Promise.all(runs.map(({ id }) => client.waitForRun(id, 60_000)));

    expect(settled.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    for (const { id } of runs) {
      const facts = await client.facts(id);
      expectWholeLog(facts);
      expect(findEffects(facts)).toBe('1\n2\n3\n');
    }
  });
});

/** The output of the task's last command: one line for each effect. */
const findEffects = (facts: readonly Fact[]): string | undefined =>
  facts.filter(({ type, iteration }) => type === 'tool.completed' && iteration === 4).at(-1)?.data.result.output as
    string | undefined;

/** The steps that were reported to the model as done. */
const stepsDone = (facts: readonly Fact[]): string[] =>
  facts
    .filter(({ type }) => type === 'tool.completed')
    .flatMap(({ data }) => /^did (\d)$/m.exec(String(data.result.output))?.[1] ?? []);

/** The effects, read by another run, because the reading command of the run itself may have been killed. */
async function effectsIn(client: RondoClient, { thread_id }: RunView): Promise<string[]> {
  const look = scriptInput('look', [{ calls: [command('touch effects; cat effects')] }, { text: 'Seen.' }]);
  const { id } = await client.createRun({ ...look, thread_id });
  expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
  const [output = 'nothing was seen'] = await client.toolOutputs(id);
  return output.split('\n').filter(Boolean);
}
