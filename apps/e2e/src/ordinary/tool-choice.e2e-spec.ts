import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

describe('the tools of a run in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  it('a plan in todo.md is shown as events and kept with the thread', async () => {
    const run = await client.createRun(
      scriptInput('a plan', [
        { calls: [call('create_file', { file_path: 'todo.md', file_contents: '- [ ] Read\n- [ ] Write\n' })] },
        { calls: [command(`sed -i 's/\\[ \\] Read/[x] Read/' todo.md`)] },
        { text: 'Half of it is done.' },
      ]),
    );

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    const plans = facts.flatMap(({ data }) => (data.message?.metadata.kind === 'plan_updated' ? [data.message] : []));
    expect(plans.map(({ metadata }) => [metadata.done, metadata.total])).toEqual([
      [0, 2],
      [1, 2],
    ]);
    const { data } = await client.json<{ data: { type: string; is_llm_message: boolean }[] }>(
      'GET',
      `/threads/${run.thread_id}/messages`,
    );
    expect(data.filter(({ type }) => type === 'status').map((one) => one.is_llm_message)).toEqual([false, false]);
  });

  it('a tool that is switched off is not offered, and a call of it is refused', async () => {
    const script = scriptInput('no shell', [{ calls: [command('id')] }, { text: 'There is no shell.' }]);
    const run = await client.createRun({ ...script, tools: { shell: false } });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expect(facts.map(({ type }) => type)).not.toContain('tool.started');
    const refusal = facts.find(({ type }) => type === 'tool.failed')?.data.result.error;
    expect(refusal).toContain('There is no tool named "execute_command"');
    expect(refusal).not.toContain('check_command_output');
    expect(refusal).toContain('read_file');
  });

  it('a change of something that does not exist is refused at once', async () => {
    const { status, text } = await client.request('POST', '/runs', { input: 'Hello.', tools: { teleport: false } });

    expect(status).toBe(422);
    expect(text).toContain('teleport');
  });

  it('a tool without its key is listed with the reason, and is not offered', async () => {
    const listed = async () => {
      const { data } = await client.json<{ data: Record<string, unknown>[] }>('GET', '/tools?limit=200');
      return new Map(data.map((tool) => [tool['name'], tool]));
    };
    const tools = await listed();
    expect(tools.get('read_file')).toMatchObject({ available: true });
    expect(tools.get('visit_webpage')).toMatchObject({ available: true, default_in: ['suna', 'ii', 'symphony'] });
    expect(tools.get('web_search')).toMatchObject({ available: false, reason: expect.stringContaining('SEARXNG_URL') });

    const script = scriptInput('no search', [
      { calls: [call('web_search', { query: 'tea' })] },
      { text: 'No search.' },
    ]);
    const run = await client.createRun({ ...script, tools: ['web_search', 'visit_webpage'] });
    await client.waitForRun(run.id);
    const refusal = (await client.facts(run.id)).find(({ type }) => type === 'tool.failed')?.data.result.error;
    expect(refusal).toContain('There is no tool named "web_search"');
    expect(refusal).toContain('visit_webpage');
  });
});
