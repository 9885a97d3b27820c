import { type RondoClient, type RunningRondo, call, scriptInput } from '@rondo/test-deployment';
import { expectShownAsStored, expectWholeLog, readAnswers } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

type Turns = readonly Record<string, unknown>[];

const invoke = (line: string): string =>
  `<function_calls><invoke name="execute_command"><parameter name="command">${line}</parameter>` +
  '<parameter name="blocking">true</parameter></invoke></function_calls>';

/** The same small task in each dialect, in the form that a model would write. */
const tasks: Record<string, Turns> = {
  xml_invoke: [{ text: `Counting. ${invoke('echo "$((6 * 7)) </parameter>"')}` }, { text: 'It is 42.' }],
  xml_tag: [
    { text: 'Counting. <execute-command blocking="true">echo $((6 * 7))</execute-command>' },
    { text: 'It is 42.' },
  ],
  json: [
    { text: '{"tool_name": "execute_command", "parameters": {"command": "echo $((6 * 7))", "blocking": true}}' },
    { text: '{"tool_name": "none", "response": "It is 42."}' },
  ],
};

/** The same server over OpenAI's and Anthropic's protocols. */
const models = ['demo/scripted', 'demo-anthropic/scripted'];

interface Result {
  readonly success: boolean;
  readonly result: { response: string; tools_executed: { name: string; success: boolean }[] };
}

describe('dialects and profiles in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  afterAll(async () => {
    expect(await rondo.violations()).toMatchObject([]); // I6, in every dialect, for both protocols
  });

  const start = (about: string, turns: Turns, body: Record<string, unknown>) =>
    client.createRun({ ...scriptInput(about, turns), ...body });

  const settle = async (about: string, turns: Turns, body: Record<string, unknown>) => {
    const run = await start(about, turns, body);
    const settled = await client.waitForRun(run.id);
    const result = await client.json<Result>('GET', `/runs/${run.id}/result`);
    return { settled, result, facts: await client.facts(run.id) };
  };

  const everyPair = Object.keys(tasks).flatMap((dialect) => models.map((model) => [dialect, model] as const));

  it.each(everyPair)('%s drives tools on %s', async (dialect, model) => {
    const { settled, result, facts } = await settle(`${dialect} ${model}`, tasks[dialect] ?? [], {
      model,
      processor: { dialect },
    });

    expectWholeLog(facts);
    expect(settled).toMatchObject({ status: 'completed', finish_reason: 'stop' });
    const done = facts.find(({ type }) => type === 'tool.completed');
    expect(done?.data.result.output).toContain('42');
    expect(result).toMatchObject({ success: true, result: { response: 'It is 42.' } });
  });

  it('passes the bytes of a parameter on unchanged', async () => {
    const contents = '\n  <b>"quoted" & \'raw\'</b>\n</invoke> \t 世界 👋\n';
    const text = `<function_calls><invoke name="create_file"><parameter name="file_path">a.html</parameter><parameter name="file_contents"><![CDATA[${contents}]]></parameter></invoke></function_calls>`;
    const read = `<function_calls><invoke name="read_file"><parameter name="file_path">a.html</parameter></invoke></function_calls>`;
    const { facts } = await settle('bytes', [{ text }, { text: read }, { text: 'Ok.' }], {
      processor: { dialect: 'xml_invoke' },
    });

    const planned = facts.find(({ type }) => type === 'tool.planned');
    expect(planned?.data.tool_call.arguments.file_contents).toBe(contents);
    expect(facts.filter(({ type }) => type === 'tool.completed')).toHaveLength(2);
  });

  it('ends a reply at its limit of calls and shows exactly what it stores', async () => {
    const text = `One. ${invoke('echo one')} Two. ${invoke('echo two')} Three.`;
    const run = await start('limit', [{ text, chunk_chars: 7 }, { text: 'Done.' }], {
      processor: { dialect: 'xml_invoke', max_xml_tool_calls: 1 },
    });
    const seen = await client.watch(run.id);
    const facts = await client.facts(run.id);

    expectShownAsStored(seen, facts);
    expect([...readAnswers(facts).values()].join()).not.toContain('Two');
    const [first] = facts.filter(({ type }) => type === 'iteration.completed');
    expect(first?.data.finish_reason).toBe('xml_tool_limit_reached');
  });

  it('runs a tool while the model is still streaming', async () => {
    const text = `First. ${invoke('echo early')}${' And on it goes.'.repeat(60)}`;
    const run = await start('on stream', [{ text, chunk_chars: 8, pace_ms: 20 }, { text: 'Done.' }], {
      processor: { dialect: 'xml_invoke', execute_on_stream: true },
    });
    const seen = await client.watch(run.id);

    const started = seen.findIndex(({ type }) => type === 'tool.started');
    const lastWord = seen.findLastIndex(
      ({ type, data }) => type === 'message.delta' && String(data.text).includes('on it'),
    );
    expect(started).toBeGreaterThan(0);
    expect(started).toBeLessThan(lastWord);
    expectShownAsStored(seen, await client.facts(run.id));
  });

  it('stores one message for a reply that was cut off by its length and continued', async () => {
    const run = await client.createRun({ model: 'demo/length', input: 'Tell me a long story.' });
    await client.waitForRun(run.id);
    const facts = await client.facts(run.id);

    expectWholeLog(facts);
    expect(
      facts.filter(({ type, data }) => type === 'message.created' && data.message.type === 'assistant'),
    ).toHaveLength(1);
    expect(facts.filter(({ type }) => type === 'usage.recorded').length).toBeGreaterThan(1);
  });

  it.each(models)('ii runs one call per turn and ends with its answer: %s', async (model) => {
    const turns = [
      { calls: [call('bash', { command: 'ls' }), call('bash', { command: 'ls' })] },
      { calls: [call('complete', { answer: 'Nothing is here.' })] },
    ];
    const { settled, result, facts } = await settle(`ii ${model}`, turns, { model, profile: 'ii' });

    expect(settled).toMatchObject({ status: 'completed', finish_reason: 'complete' });
    expect(facts.filter(({ type }) => type === 'tool.failed').map(({ data }) => data.result.error)).toEqual([
      expect.stringContaining('not executed'),
    ]);
    expect(result.result.response).toBe('Nothing is here.');
  });

  it.each([
    ['a tool', [{ text: '{"tool_name":"list_files","parameters":{}}' }], true],
    ['a correct none', [{ text: '{"tool_name":"none","response":"Four."}' }], true],
    ['a tool that fails', [{ text: '{"tool_name":"delete_file","parameters":{"file_path":"nothing"}}' }], false],
    ['words instead of JSON', [{ text: 'I think it is four.' }], false],
  ] as const)('symphony decides once: %s', async (about, turns, success) => {
    for (const model of models) {
      const { settled, result } = await settle(`${about} ${model}`, turns, { model, profile: 'symphony' });

      expect(settled.status).toBe('completed');
      expect(result.success).toBe(success);
      expect(result.result.response).not.toBe('');
    }
  });

  it('keeps the settings of concurrent runs apart (I10)', async () => {
    const runs = await Promise.all(
      everyPair.map(([dialect, model]) =>
        settle(`together ${dialect} ${model}`, tasks[dialect] ?? [], { model, processor: { dialect } }),
      ),
    );

    for (const { facts, settled } of runs) {
      expectWholeLog(facts);
      expect(settled.status).toBe('completed');
    }
  });
});
