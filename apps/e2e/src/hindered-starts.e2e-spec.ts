import { setTimeout as delay } from 'node:timers/promises';
import { RunningRondo, command, scriptInput } from '@rondo/test-deployment';

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
