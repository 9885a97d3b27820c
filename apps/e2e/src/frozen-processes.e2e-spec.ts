import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Rondo } from '@rondo/client';
import { RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { RondoProgram } from './rondo-program';

/**
 * A process that is frozen keeps its connections, so that neither Redis nor NATS notices. The health of the deployment, the
 * reason of a waiting run and `rondo doctor` have to say the same of it, also if it held nothing.
 */
describe('a frozen process', () => {
  let deployment: RunningRondo;
  let rondo: Rondo;
  let folder: string;
  let program: RondoProgram;
  beforeAll(async () => {
    deployment = await RunningRondo.start({ leases: 'production' });
    const { url, key } = deployment.client();
    rondo = new Rondo({ baseUrl: url, apiKey: key });
    folder = mkdtempSync(join(tmpdir(), 'rondo-frozen-'));
    program = new RondoProgram(folder, deployment.client());
  });
  afterAll(async () => {
    await deployment.stop();
    rmSync(folder, { recursive: true });
  });

  /** The test's own time limit ends it. */
  async function until<Value>(read: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> {
    for (;;) {
      const value = await read();
      if (holds(value)) return value;
      await delay(100);
    }
  }
  const findings = async () => (await rondo.deploymentHealth()).findings ?? [];
  const doctor = () => program.run('doctor', '--quick');
  const allAlive = () =>
    until(
      () => rondo.deploymentHealth(),
      ({ findings: found = [], processes }) =>
        found.length === 0 && processes?.filter(({ is_silent: isSilent }) => !isSilent).length === 2,
    );

  it('the only worker, idle: health, the run that waits for it and doctor name it, until it goes on', async () => {
    const { processes } = await allAlive();
    const id = processes?.find(({ service }) => service === 'agent-worker')?.id;
    expect((await doctor()).stdout).toContain('give signs of life');

    const worker = deployment.services.get('agent-worker');
    await worker.kill('SIGSTOP');
    const [finding] = await until(findings, (found) => found.length > 0);
    expect(finding).toContain(`The agent-worker ${id} has given no sign of life`);
    expect(finding).toContain('Restart it.');

    const run = await rondo.runs.create({ model: 'demo/coder', input: 'Hello.' });
    const wait = await rondo.runs.why(run.id);
    expect(wait).toMatchObject({ cause: 'queue', sentence: expect.stringContaining(`agent-worker ${id}`) });
    expect(wait.sentence).toContain('Restart it.');
    const examined = await doctor();
    expect(examined.code).toBe(1);
    expect(examined.stdout).toContain(`agent-worker ${id}`);

    await worker.kill('SIGCONT');
    await allAlive();
    expect(await rondo.runs.wait(run.id)).toMatchObject({ status: 'completed' });
  });

  it('the only executor: health and the run whose call it has say so', async () => {
    await allAlive();
    const task = scriptInput('frozen', [{ calls: [command('sleep 600')] }, { text: 'Done.' }]);
    const run = await deployment.client().createRun(task);
    const why = () => rondo.runs.why(run.id);
    await until(why, ({ cause, executor_id: executor }) => cause === 'tool' && executor !== undefined);

    const executor = deployment.services.get('tool-executor');
    await executor.kill('SIGSTOP');
    const [finding] = await until(findings, (found) => found.length > 0);
    expect(finding).toContain('No tool-executor was heard');
    const wait = await why();
    expect(wait).toMatchObject({ cause: 'tool', sentence: expect.stringContaining('gives no sign of life') });

    await executor.kill('SIGCONT');
    await until(why, ({ sentence }) => !sentence.includes('sign of life'));
    await rondo.runs.stop(run.id, { reason: 'the test is over' });
  });
});
