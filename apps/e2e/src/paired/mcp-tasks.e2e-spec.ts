import { once } from 'node:events';
import { type RondoClient, type RunningRondo, call, scriptInput } from '@rondo/test-deployment';
import { BuildServer } from '../build-mcp-server';
import { expectWholeLog } from '../log-expectations';
import { internalPort, newAccount, startPaired } from '../shared-deployment';

describe('a call that becomes a task of an MCP server', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let server: BuildServer;

  beforeAll(async () => {
    server = await BuildServer.open(await internalPort());
    rondo = await startPaired();
    client = await newAccount(rondo);
  });

  afterAll(async () => {
    await server.close();
  });

  const startRun = () =>
    client.createRun({
      ...scriptInput('build', [{ calls: [call('ci__build', {})] }, { text: 'Done.' }]),
      tools: [],
      mcp_servers: [{ name: 'ci', transport: 'streamable_http', url: server.url }],
    });

  it.each(['tool-executor', 'agent-worker'])(
    'is asked for by the next process after a kill -9 of the %s, and is not called again',
    async (victim) => {
      const before = server.builds;
      const run = await startRun();
      await client.waitForEvent(run.id, 'tool.task_created');
      await once(server.answered, 'tasks/get');

      const victims = rondo.services.all.filter(({ name }) => name.startsWith(victim));
      await Promise.all(victims.map((service) => service.kill()));
      await server.finish();

      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
      expect(server.builds).toBe(before + 1);
      expect(await client.toolOutputs(run.id)).toEqual([`build ${server.builds} is green`]);
      const facts = await client.facts(run.id);
      expectWholeLog(facts);
      expect(facts.map(({ type }) => type)).not.toContain('tool.unknown');
    },
  );

  it('is cancelled at its server when the run is stopped', async () => {
    const run = await startRun();
    await client.waitForEvent(run.id, 'tool.task_created');
    await once(server.answered, 'tasks/get');
    const cancelled = once(server.answered, 'tasks/cancel');

    await client.json('POST', `/runs/${run.id}/stop`);

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'stopped' });
    await cancelled;
  });
});
