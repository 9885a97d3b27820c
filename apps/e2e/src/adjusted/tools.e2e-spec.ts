import { type RondoClient, call, scriptInput } from '@rondo/test-deployment';
import { ApiServer, json } from '../../../tool-executor/src/testing/api-server';
import { expectWholeLog } from '../log-expectations';
import { startAdjusted, newAccount, serviceKey, servicePort } from '../shared-deployment';
import { type ToolStep, allToolNames, browserSteps, lastSteps, toolSteps } from '../tool-walk';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly effect_class: string;
  readonly result: { success: boolean; output: string; error?: string } | null;
}

describe('every tool in a deployment', () => {
  let client: RondoClient;
  let api: ApiServer;

  beforeAll(async () => {
    api = await ApiServer.open(
      ({ path }, response) => {
        if (path === '/search') {
          return json(response, {
            results: [{ title: 'About tea', url: 'https://tea.example/', content: 'A drink.' }],
          });
        }
        if (path === '/audio/transcriptions') return json(response, { text: 'Tea is served.' });
        if (path !== '/page') return json(response, { path });
        response.setHeader('content-type', 'text/html');
        response.end('<title>Tea</title><main><h1>Tea</h1><p>Tea is a drink made of leaves and hot water.</p></main>');
      },
      await servicePort,
    );
    client = await newAccount(await startAdjusted());
  });

  afterAll(() => api.close());

  /** The calls of a run that makes them one after the other. */
  async function walk(about: string, steps: readonly ToolStep[]) {
    const turns = steps.map(({ tool, args }) => ({ calls: [call(tool, args)] }));
    const script = scriptInput(about, [...turns, { text: 'All of them were called.' }]);
    const tools = allToolNames.filter((name) => name !== 'run_program'); // with it, programs call the others
    const run = await client.createRun({ ...script, tools, limits: { max_iterations: 200 } });
    const { status } = await client.waitForRun(run.id);
    const { data } = await client.json<{ data: Call[] }>('GET', `/runs/${run.id}/tool-calls?limit=200`);
    const facts = await client.facts(run.id);
    if (status === 'completed') expectWholeLog(facts);
    expect(JSON.stringify(facts)).not.toContain(serviceKey);
    return { status, calls: data, threadId: run.thread_id };
  }

  const outcomes = (calls: readonly Call[]) =>
    calls.map(({ name, status, result }) => [name, status, result?.error ?? result?.output ?? '']);
  const expected = (steps: readonly ToolStep[]) =>
    steps.map(({ tool, shows }) => [tool, 'completed', expect.stringContaining(shows)]);

  it('is called here: a new tool needs a row', () => {
    const called = [...toolSteps(''), ...browserSteps, ...lastSteps].map(({ tool }) => tool);

    // `run_agent` starts other runs, `tool_search` needs a server, and `run_program` hides the other tools: child-runs.e2e-spec,
    // tool-search.e2e-spec and code-mode.e2e-spec call them.
    const elsewhere = ['expand_message', 'run_agent', 'run_program', 'tool_search'];
    expect([...new Set([...called, ...elsewhere])].sort()).toEqual([...allToolNames].sort());
  });

  it('does its work, and the next run can read what was said', async () => {
    const steps = toolSteps(api.url);
    const { status, calls, threadId } = await walk('a walk through the tools', steps);

    expect(outcomes(calls)).toEqual(expected(steps));
    expect(status).toBe('completed');

    const { data } = await client.json<{ data: { id: string }[] }>('GET', `/threads/${threadId}/messages`);
    const script = scriptInput('a look back', [
      { calls: [call('expand_message', { message_id: data[0]?.id })] },
      { text: 'Read.' },
    ]);
    const next = await client.createRun({ ...script, thread_id: threadId });
    await client.waitForRun(next.id);
    const { data: read } = await client.json<{ data: Call[] }>('GET', `/runs/${next.id}/tool-calls`);
    expect(outcomes(read)).toEqual([['expand_message', 'completed', expect.stringContaining('a walk through')]]);
  });

  it('browses', async () => {
    const { calls } = await walk('a walk through the browser', browserSteps);

    expect(outcomes(calls)).toEqual(expected(browserSteps));
  });

  it.each(lastSteps)('$tool leaves the run $status', async ({ status: wanted, ...last }) => {
    const { status, calls } = await walk(`an end by ${last.tool}`, [last]);

    expect([status, calls.map(({ name }) => name)]).toEqual([wanted, [last.tool]]);
  });
});
