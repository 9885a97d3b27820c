import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { withClient } from '../../../deploy/local/servers/postgres-client.mjs';

let rondo: RunningRondo;
beforeAll(async () => (rondo = await RunningRondo.start()));
afterAll(() => rondo.stop());

/** Kubernetes restarts what answers no probe, and a restart brings no server back. */
describe('services that start while NATS is away', () => {
  const services = ['agent-worker', 'summarizer', 'tool-executor'] as const;
  const ask = (service: string, path: string) => fetch(`${rondo.services.get(service).url}/health/${path}`);
  /** The test's own time limit ends it. */
  const until = async (service: string, path: string) => {
    for (;;) {
      const answer = await ask(service, path).catch(() => undefined);
      if (answer?.ok) return answer;
      await delay(50);
    }
  };

  it('are live and say what they wait for, and work when it is there', async () => {
    const nats = rondo.infrastructure.get('nats');
    await nats.stop();
    for (const service of services) await rondo.services.get(service).kill();

    for (const service of services) {
      expect(await (await until(service, 'live')).json()).toEqual({ status: 'live' });
      const ready = await ask(service, 'ready');
      expect({ service, status: ready.status, body: await ready.json() }).toMatchObject({
        ...{ service, status: 503 },
        body: { code: 'not_ready', detail: 'Not reachable: nats.', failing: ['nats'] },
      });
    }

    await nats.start();
    for (const service of services) await until(service, 'ready');
    const client = rondo.client();
    const turns = [{ calls: [command('echo it works')] }, { text: 'Done.' }];
    const run = await client.waitForRun((await client.createRun(scriptInput('after NATS', turns))).id);
    expect(run).toMatchObject({ status: 'completed' });
    expect(await client.toolOutputs(run.id)).toEqual(['it works\n']);
  });
});

describe('services on a database that a later version has migrated', () => {
  const note = (version: string, oldest: string) =>
    withClient(rondo.databaseUrl, (client) =>
      client.query('insert into schema_versions values ($1, $2)', [version, oldest]),
    );
  const readLog = (service: string) => readFileSync(join(rondo.directory, 'logs', `${service}.log`), 'utf8');
  const refusal = 'the database was migrated by version 98.0.0, which works with services of version 97.0.0 or later';

  it('start if it is the one after their own, and else refuse with what to do', async () => {
    const { rows } = await withClient(rondo.databaseUrl, (client) => client.query('select * from schema_versions'));
    expect(rows).toEqual([{ version: expect.any(String), oldest_service: expect.any(String) }]);

    await note('97.0.0', '0.1.0');
    await rondo.services.get('gateway').kill();
    await rondo.services.get('gateway').start();

    await note('98.0.0', '97.0.0');
    for (const service of ['gateway', 'agent-worker', 'summarizer']) {
      await rondo.services.get(service).kill();
      while (!readLog(service).includes(refusal)) await delay(50); // the test's own time limit ends it
    }
  });
});
