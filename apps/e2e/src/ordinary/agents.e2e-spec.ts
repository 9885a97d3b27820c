import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Agent, Run } from '@rondo/contract';
import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { expectWholeLog } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

const run = promisify(execFile);

describe('stored agents in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  const newRun = (body: object) => client.json<Run>('POST', '/runs', { input: 'Go.', ...body });

  it('a run keeps the version that it began with, over a change of the agent and the death of its worker', async () => {
    const definition = { name: 'asker', model: 'demo/ask', system_prompt: 'Version one.' };
    const agent = await client.json<Agent>('POST', '/agents', { definition });
    const { id } = await newRun({ agent_id: agent.id });
    expect(await client.waitForRun(id)).toMatchObject({ status: 'waiting_input' });

    const changed = {
      definition: { ...definition, model: 'demo/plain', system_prompt: 'Version two.' },
      if_version: 1,
    };
    expect(await client.json('PATCH', `/agents/${agent.id}`, changed)).toMatchObject({ version: 2 });
    await rondo.services.get('agent-worker').kill();
    await client.json('POST', `/runs/${id}/input`, { content: 'Blue.' });

    expect(await client.waitForRun(id)).toMatchObject({
      ...{ status: 'completed', agent_id: agent.id, agent_version: 1 },
      settings: { agent: { system_prompt: 'Version one.' } },
    });
    expectWholeLog(await client.facts(id));
    const requests = await rondo.findModelRequests('Version one.');
    expect(requests.map(({ model }) => model)).toEqual(['ask', 'ask']);
  });

  it('a version that is active again is the one of new runs', async () => {
    const agent = await client.json<Agent>('PUT', '/agents/by-name/greeter', { definition: { model: 'demo/plain' } });
    const other = { definition: { name: 'greeter', model: 'demo/long' } };
    await client.json('PATCH', `/agents/${agent.id}`, other);
    await client.json('POST', `/agents/${agent.id}/versions/1/activate`, {});
    const { id } = await newRun({ agent_id: agent.id });
    expect(await client.request('DELETE', `/agents/${agent.id}`)).toMatchObject({ status: 204 });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed', agent_version: 1, model: 'demo/plain' });
  });

  it('what an agent says of a tool reaches the model and the executor, and a run may say otherwise', async () => {
    const tools = { execute_command: { description: 'Runs make, and nothing else.', timeout_s: 2 } };
    const agent = await client.json<Agent>('PUT', '/agents/by-name/maker', { definition: { tools } });
    const script = scriptInput('make it slowly', [
      { calls: [command('sleep 300', 600)] },
      { text: 'It was too slow.' },
    ]);
    const of = { agent_id: agent.id, ...script };
    const { id } = await newRun(of);

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed', settings: { tool_policies: tools } });
    const facts = await client.facts(id);
    expectWholeLog(facts);
    expect(facts.find(({ type }) => type === 'tool.failed')?.data['result']).toMatchObject({
      error: expect.stringContaining('killed after 2 s'),
    });
    expect((await rondo.findModelRequests('make it slowly')).at(-1)?.body).toContain('Runs make, and nothing else.');

    const longer = await newRun({ ...of, tools: { execute_command: { timeout_s: 3 } } });
    expect(await client.waitForRun(longer.id)).toMatchObject({
      settings: { tool_policies: { execute_command: { ...tools.execute_command, timeout_s: 3 } } },
    });
    expect((await client.facts(longer.id)).find(({ type }) => type === 'tool.failed')?.data['result']).toMatchObject({
      error: expect.stringContaining('killed after 3 s'),
    });
  });

  it('the program of the documentation does what its comments say', async () => {
    const document = readFileSync(join(repoRoot, 'docs/agents.md'), 'utf8');
    const [, program = ''] = /```js\n(.*?)```/s.exec(document) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'rondo-agents-'));
    writeFileSync(join(folder, 'agents.mjs'), program);
    const env = { PATH: process.env['PATH'], RONDO_URL: client.url, RONDO_API_KEY: client.key };
    const play = async () => (await run(process.execPath, ['agents.mjs'], { cwd: folder, env })).stdout;

    expect(await play()).toBe(
      'version 1\nruns with version 1, 5 iterations\nchanged: /system_prompt\nversion 1 of 2\n',
    );
    expect(await play()).toContain('version 1\n'); // the same definition made no version
    rmSync(folder, { recursive: true });
  });
});
