import type { Run } from '@rondo/contract';
import { type HandledTools, Rondo } from '@rondo/client';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { createPairedClients } from '../shared-deployment';

const weather = { name: 'get_weather', description: 'The weather of a city.', effect_class: 'pure' };
const taxi = { name: 'order_taxi', description: 'Orders a taxi.' };

describe('tools of the caller, in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let other: RondoClient;

  beforeAll(async () => {
    ({ rondo, client, other } = await createPairedClients());
  });

  const ask = (city: string) => call('get_weather', { city });
  const createClient = ({ url, key }: RondoClient) => new Rondo({ baseUrl: url, apiKey: key, retries: 100 });
  const start = (about: string, calls: readonly object[], more: object = {}) =>
    client.createRun({
      ...scriptInput(about, [{ calls }, { text: 'All done.' }]),
      caller_tools: [weather, taxi],
      ...more,
    });
  const waiting = async (id: string): Promise<Run> => {
    expect(await client.waitForRun(id)).toMatchObject({ status: 'waiting_tool' });
    return client.json<Run>('GET', `/runs/${id}`);
  };
  const listCalls = ({ waiting: about }: Run) => about?.tool_calls?.map(({ tool_call_id: id }) => id) ?? [];

  it('the client runs handlers, and each call is handled once while workers and gateways are killed', async () => {
    const handled: string[] = [];
    const kills = ['agent-worker', 'gateway', 'agent-worker-2'];
    const handler: HandledTools[string]['handler'] = async ({ city }, about) => {
      handled.push(about.call.id);
      await rondo.services.get(kills[handled.length - 1] ?? 'gateway').kill();
      return { city, degrees: handled.length };
    };
    const turns = [
      { calls: [ask('Bergen'), command('echo beside')] },
      { text: 'And now? '.repeat(20), pace_ms: 5, calls: [ask('Oslo'), ask('Bodø')] },
      { text: 'All done.' },
    ];

    const { result } = await createClient(client).runs.run({
      ...scriptInput('killed', turns),
      tools: { get_weather: { description: weather.description, handler } },
    });

    expect(result.response).toBe('All done.');
    expect(new Set(handled).size).toBe(handled.length);
    expect(result.tools_executed.map(({ name, success }) => [name, success]).toSorted()).toEqual([
      ['execute_command', true],
      ...Array.from({ length: 3 }, () => ['get_weather', true]),
    ]);
    const { data } = await other.json<{ data: Run[] }>('GET', '/runs?limit=1');
    const facts = await other.facts(data[0]?.id ?? '');
    expectWholeLog(facts);
    expect(facts.filter(({ data: of }) => 'answered_by' in of)).toHaveLength(3);
    expect(new Set(facts.map(({ type }) => type))).not.toContain('tool.unknown');
  });

  it('two gateways that get different results at the same time take one, and the model reads that one', async () => {
    const { id } = await start('disputed', [ask('Bergen')]);
    const [callId] = listCalls(await waiting(id));

    const answers = await Promise.all(
      [client, other].map((through, index) =>
        through.request('POST', `/tool-calls/${callId}/result`, { output: `result ${index}` }),
      ),
    );

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    const taken = answers.findIndex(({ status }) => status === 200);
    expect(await client.toolOutputs(id)).toEqual([`result ${taken}`]);
    expectWholeLog(await client.facts(id));
  });

  it('a call without a result ends when its time is over, and a late result is gone', async () => {
    const { id } = await start('late', [ask('Bergen'), call('order_taxi', { to: 'Bergen' })], {
      caller_tools: [
        { ...weather, timeout_s: 1 },
        { ...taxi, timeout_s: 1 },
      ],
    });
    const calls = listCalls(await waiting(id));

    await client.waitForEvent(id, 'run.completed');

    const facts = await client.facts(id);
    expectWholeLog(facts);
    expect(facts.find(({ type }) => type === 'tool.failed')?.data.result.error).toContain('gave no result');
    expect(facts.find(({ type }) => type === 'tool.unknown')?.data.name).toBe('order_taxi');
    for (const callId of calls)
      expect((await client.request('POST', `/tool-calls/${callId}/result`, { output: 'x' })).status).toBe(410);
  });

  it('a run that waits occupies nothing, is stopped at once, and takes no result any more', async () => {
    const { id } = await start('stopped', [ask('Bergen')]);
    const [callId] = listCalls(await waiting(id));

    expect((await client.request('POST', `/runs/${id}/stop`, {})).status).toBe(202);

    expect(await client.json<Run>('GET', `/runs/${id}`)).toMatchObject({ status: 'stopped' });
    expect((await client.request('POST', `/tool-calls/${callId}/result`, { output: 'x' })).status).toBe(410);
    expectWholeLog(await client.facts(id));
  });

  it('a child run of a stored agent waits for the same caller, which finds its call in the list', async () => {
    const definition = { model: 'demo/scripted', caller_tools: [weather] };
    await client.json('PUT', '/agents/by-name/forecaster', { definition });
    const task = scriptInput('child', [{ calls: [ask('Bergen')] }, { text: 'It rains.' }]).input;
    const { id } = await client.createRun({
      ...scriptInput('parent', [
        { calls: [call('run_agent', { agent: 'forecaster', input: task })] },
        { text: 'They have answered.' },
      ]),
      tools: { run_agent: true },
    });
    await client.waitForEvent(id, 'run.waiting');
    const { data: children } = await client.json<{ data: Run[] }>('GET', `/runs?parent_run_id=${id}`);
    const child = children[0]?.id ?? '';
    await waiting(child);

    await createClient(client).runs.serve(child, { get_weather: { description: '', handler: () => 'rain' } });

    expect(await client.waitForRun(child)).toMatchObject({ status: 'completed' });
    await client.waitForEvent(id, 'run.completed');
    expect(await client.toolOutputs(id)).toEqual(['It rains.']);
  });

  it('a call that needs approval is sent to the caller after it', async () => {
    const { id } = await start('approved', [ask('Bergen')], { tools: { caller: { require_approval: true } } });
    expect(await client.waitForRun(id)).toMatchObject({ status: 'waiting_input' });
    const { data } = await client.json<{ data: { id: string; run_id: string; arguments_hash: string }[] }>(
      'GET',
      '/approvals?limit=200',
    );
    const { id: approval, arguments_hash } = data.find(({ run_id }) => run_id === id) ?? {};

    await client.json('POST', `/approvals/${approval}/decision`, { decision: 'approve', arguments_hash });
    const [callId] = listCalls(await waiting(id));
    await client.json('POST', `/tool-calls/${callId}/result`, { output: 'sun' });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(await client.toolOutputs(id)).toEqual(['sun']);
  });
});
