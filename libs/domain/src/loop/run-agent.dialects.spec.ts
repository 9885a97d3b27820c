import type { ProcessorSettings, SettingsRequest } from '@rondo/contract';
import type { ModelChunk } from '../models/model';
import {
  LedgeredTools,
  RunHarness,
  ScriptedModel,
  breaksAfter,
  calls,
  finished,
  inPieces,
  says,
  untoldStreams,
} from '../testing';
import type { Turn } from '../testing/scripted-model';

const invoke = (name: string, parameters: Record<string, string>): string => {
  const written = Object.entries(parameters).map(([key, value]) => `<parameter name="${key}">${value}</parameter>`);
  return `<function_calls><invoke name="${name}">${written.join('')}</invoke></function_calls>`;
};
const read = (path: string): string => invoke('read_file', { file_path: path });
const settingsWith = (processor: Partial<ProcessorSettings>): SettingsRequest => ({ processor });
const invokes = (processor: Partial<ProcessorSettings> = {}): SettingsRequest =>
  settingsWith({ dialect: 'xml_invoke', ...processor });

/** The stored text of the assistant, message by message. */
const stored = (harness: RunHarness): string[] =>
  harness.log.flatMap((fact) =>
    fact.type === 'message.created' && fact.data.message.type === 'assistant'
      ? [fact.data.message.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')]
      : [],
  );

const shown = (harness: RunHarness): string =>
  harness.deltas.flatMap(({ type, text }) => (type === 'message.delta' ? text : [])).join('');

describe('a run in another dialect', () => {
  it.each([
    ['xml_invoke', `Look. ${read('a.txt')}`],
    ['xml_tag', 'Look. <read-file file_path="a.txt"/>'],
    ['json', '{"tool_name": "read_file", "parameters": {"file_path": "a.txt"}}'],
  ] as const)('calls tools and receives their results: %s', async (dialect, reply) => {
    const answer = dialect === 'json' ? '{"tool_name": "none", "response": "Done."}' : 'Done.';
    const model = new ScriptedModel([says(reply), says(answer)]);
    const harness = new RunHarness({ model, settings: settingsWith({ dialect }) });

    await harness.activate();

    const completed = harness.log.find(({ type }) => type === 'tool.completed');
    expect(completed?.data).toMatchObject({ name: 'read_file' });
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('did read_file');
    expect(model.requests[0]?.tools).toEqual([]);
    expect(stored(harness).at(-1)).toBe('Done.');
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it.each([
    ['has no decision where the run has no tools', {}, undefined],
    [
      'has one where the only tools are those of the caller',
      { caller_tools: [{ name: 'get_weather', description: 'The weather.' }] },
      'malformed',
    ],
  ])('a reply in JSON mode %s', async (_, given, decision) => {
    const processor = { dialect: 'json', json_repair_attempts: 0 } as const;
    const model = new ScriptedModel([says('Four.')]);
    const harness = new RunHarness({ model, settings: { tools: [], processor, ...given } });

    await harness.activate();

    const reply = harness.state.conversation.find(({ type }) => type === 'assistant');
    expect(reply?.metadata['decision']).toBe(decision);
  });

  it('closes the stream at the limit of calls and stores exactly what it showed', async () => {
    const model = new ScriptedModel([says(`One. ${read('a')} Two. ${read('b')} Three.`), says('Done.')]);
    const harness = new RunHarness({ model, settings: invokes({ max_tool_calls: 1 }) });

    await harness.activate();

    const ends = harness.log.filter(({ type }) => type === 'iteration.completed');
    expect(ends[0]?.data).toMatchObject({ finish_reason: 'xml_tool_limit_reached' });
    expect(harness.types.filter((type) => type === 'tool.planned')).toHaveLength(1);
    expect(shown(harness)).not.toContain('Two');
    expect(stored(harness)[0]).not.toContain('Two');
  });

  it('tells the model about a call that was cut off and runs nothing', async () => {
    const tools = new LedgeredTools();
    const half = '<function_calls><invoke name="read_file"><parameter name="file_path">a.t';
    const harness = new RunHarness({
      model: new ScriptedModel([says(half), says('Sorry.')]),
      tools,
      settings: invokes(),
    });

    await harness.activate();

    expect(tools.effects.size).toBe(0);
    expect(harness.types).toContain('tool.failed');
    expect(harness.store.status(harness.id)).toBe('completed');
  });
});

describe('a native call that the output limit cuts off', () => {
  const path = '{"file_path": "a.txt", "file_contents": "';
  it.each([
    ['within its arguments', [{ type: 'call_arguments', index: 0, text: `${path}Once upon` }]],
    ['before its arguments', []],
  ] as const)('is not executed, and the model learns why: %s', async (_, written) => {
    for (const execute_on_stream of [true, false]) {
      const tools = new LedgeredTools();
      const turn: Turn = [{ type: 'call_start', index: 0, name: 'list_files' }, ...written, finished('length')];
      const harness = new RunHarness({
        model: new ScriptedModel([turn, says('Sorry.')]),
        tools,
        settings: settingsWith({ execute_on_stream }),
      });

      await harness.activate();

      expect(tools.effects.size).toBe(0);
      const failed = harness.log.find(({ type }) => type === 'tool.failed');
      expect(failed?.data).toMatchObject({ result: { error: expect.stringContaining('output limit') as string } });
      expect(stored(harness).at(-1)).toBe('Sorry.');
    }
  });

  it('takes no earlier call without arguments with it', async () => {
    const tools = new LedgeredTools();
    const turn: Turn = [
      { type: 'call_start', index: 0, name: 'list_files' },
      { type: 'call_start', index: 1, name: 'create_file' },
      { type: 'call_arguments', index: 1, text: path },
      finished('length'),
    ];
    const harness = new RunHarness({ model: new ScriptedModel([turn, says('Sorry.')]), tools });

    await harness.activate();

    expect(harness.types.filter((type) => type.startsWith('tool.'))).toEqual(
      expect.arrayContaining(['tool.completed', 'tool.failed']),
    );
  });
});

describe('execute_on_stream', () => {
  const onStream = invokes({ execute_on_stream: true });
  const reply = `One. ${read('a')} Two. ${read('b')} Three.`;

  it('sends a call while the reply still streams, after the text before it is in the log (I4)', async () => {
    const tools = new LedgeredTools();
    const harness = new RunHarness({
      model: new ScriptedModel([says(reply), says('Done.')]),
      tools,
      settings: onStream,
    });
    const effectsWhenTwoWasSaid: number[] = [];

    await harness.activate((step) => {
      if ('delta' in step && step.delta.text === 'w') effectsWhenTwoWasSaid.push(tools.effects.size);
    });

    expect(effectsWhenTwoWasSaid[0]).toBe(1);
    expect(shown(harness)).toBe(stored(harness).join('').replaceAll('[tool_call]', ''));
    expect(harness.types.filter((type) => type === 'tool.completed')).toHaveLength(2);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('does the same with native calls', async () => {
    const list = { name: 'list_files', arguments: { path: '.' } };
    const tools = new LedgeredTools();
    const harness = new RunHarness({
      model: new ScriptedModel([calls(list, list), says('Done.')]),
      tools,
      settings: settingsWith({ execute_on_stream: true }),
    });

    await harness.activate();

    expect(tools.effects.size).toBe(2);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('stores what is said between native calls and after them (I13)', async () => {
    const view = (index: number): ModelChunk[] => [
      { type: 'call_start', index, name: 'read_file' },
      { type: 'call_arguments', index, text: '{"file_path": "a.txt"}' },
    ];
    const say = (text: string): ModelChunk => ({ type: 'text', text });
    const think = (text: string): ModelChunk => ({ type: 'reasoning', text });
    for (const tell of [say, think]) {
      const turn = [tell('One. '), ...view(0), tell('Two. '), ...view(1), tell('Three.'), finished('tool_calls')];
      const harness = new RunHarness({
        model: new ScriptedModel([turn, says('Done.')]),
        settings: settingsWith({ execute_on_stream: true }),
      });

      await harness.activate();

      expect(untoldStreams(harness.log, harness.deltas)).toEqual([]);
    }
  });

  it('sends the last native call as soon as its arguments are whole, while the reply goes on', async () => {
    const tools = new LedgeredTools();
    const turn: Turn = [
      { type: 'call_start', index: 0, name: 'list_files' },
      { type: 'call_arguments', index: 0, text: '{"path":' },
      { type: 'call_arguments', index: 0, text: '"."}' },
      { type: 'text', text: 'Meanwhile.' },
      finished('tool_calls'),
    ];
    const harness = new RunHarness({
      model: new ScriptedModel([turn, says('Done.')]),
      tools,
      settings: settingsWith({ execute_on_stream: true }),
    });
    const effectsWhenTextCame: number[] = [];

    await harness.activate((step) => {
      if ('delta' in step && step.delta.text === 'Meanwhile.') effectsWhenTextCame.push(tools.effects.size);
    });

    expect(effectsWhenTextCame[0]).toBe(1);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('keeps a call that was sent before the stream broke, and continues from its answer', async () => {
    const tools = new LedgeredTools();
    const broken = breaksAfter(`One. ${read('a')} Tw`);
    const harness = new RunHarness({ model: new ScriptedModel([broken, says('Done.')]), tools, settings: onStream });

    await harness.activate();

    expect(tools.effects.size).toBe(1);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it.each(['broken', 'failed'] as const)(
    'withdraws the call that was being written when a stored reply is %s',
    async (how) => {
      const error = { code: 'api_error', message: 'It broke off.' };
      const written: Turn = [{ type: 'text', text: `One. ${read('a')} Two. ${read('b').slice(0, -40)}` }];
      const model = new ScriptedModel([[...written, { type: 'end', how, error }], says('Done.')]);
      const harness = new RunHarness({ model, settings: onStream });

      await harness.activate();

      expect(untoldStreams(harness.log, harness.deltas)).toEqual([]);
      expect(harness.types.filter((type) => type === 'iteration.restarted')).toHaveLength(1);
      expect(harness.store.status(harness.id)).toBe('completed');
    },
  );

  const nativeReply: Turn = [
    { type: 'text', text: 'One.' },
    { type: 'call_start', index: 0, name: 'list_files' },
    { type: 'call_arguments', index: 0, text: '{"path":"."}' },
    { type: 'call_start', index: 1, name: 'read_file' },
    { type: 'call_arguments', index: 1, text: '{"file_path":"a"}' },
    { type: 'text', text: 'Two.' },
    finished('tool_calls'),
  ];

  it.each([
    ['before', onStream, says(reply)],
    ['after', onStream, says(reply)],
    ['before', settingsWith({ execute_on_stream: true }), nativeReply],
    ['after', settingsWith({ execute_on_stream: true }), nativeReply],
  ] as const)(
    'survives a crash %s every step: no call is lost, none doubled (%j)',
    async (position, settings, turn) => {
      let steps = 0;
      const build = () => {
        const tools = new LedgeredTools();
        const model = new ScriptedModel([turn, says('Done.')]);
        return { tools, harness: new RunHarness({ model, tools, settings }) };
      };
      await build().harness.activate((_, at) => {
        if (at === 'after') steps++;
      });

      for (let step = 0; step < steps; step++) {
        const { harness, tools } = build();
        await harness.crashAt({ step, position });
        while (await harness.activate());

        expect({ step, status: harness.store.status(harness.id) }).toEqual({ step, status: 'completed' });
        expect(Math.max(...tools.effects.values())).toBe(1);
        const planned = harness.types.filter((type) => type === 'tool.planned').length;
        expect(harness.types.filter((type) => type === 'tool.completed')).toHaveLength(planned);
        expect(harness.types.filter((type) => type === 'usage.recorded')).toHaveLength(2);
      }
    },
  );
});

describe('auto-continue', () => {
  const cut = (text: string): ModelChunk[] => [{ type: 'text', text }, finished('length')];

  it('makes one message of a reply that was cut off by its length, with one reason', async () => {
    const harness = new RunHarness({ model: inPieces(cut('Once upon '), cut('a time '), says('it ended.')) });

    await harness.activate();

    expect(stored(harness)).toEqual(['Once upon a time it ended.']);
    expect(harness.types.filter((type) => type === 'usage.recorded')).toHaveLength(3);
    expect(harness.log.at(-1)).toMatchObject({ data: { finish_reason: 'stop' } });
  });

  it('keeps the state of the parser, so that a call may be cut anywhere', async () => {
    const whole = read('a.txt');
    const harness = new RunHarness({
      model: inPieces(cut(whole.slice(0, 40)), says(whole.slice(40)), says('Done.')),
      settings: invokes(),
    });

    await harness.activate();

    const planned = harness.log.find(({ type }) => type === 'tool.planned');
    expect(planned?.data).toMatchObject({ tool_call: { arguments: { file_path: 'a.txt' } } });
  });

  it('says so when it stops asking', async () => {
    const harness = new RunHarness({
      model: inPieces(cut('a'), cut('b'), cut('c'), cut('d')),
      settings: settingsWith({ native_max_auto_continues: 2 }),
    });

    await harness.activate();

    expect(stored(harness)[0]).toBe('abc\n\n[Agent reached maximum auto-continue limit of 2]');
    expect(harness.log.at(-1)).toMatchObject({ data: { finish_reason: 'length' } });
  });

  it('asks for the rest of a JSON object in no format, which would have the model begin another one', async () => {
    const whole = '{"tool_name": "none", "response": "It is a long story."}';
    const model = inPieces(cut(whole.slice(0, 40)), says(whole.slice(40)));
    const harness = new RunHarness({ model, settings: settingsWith({ dialect: 'json' }) });

    await harness.activate();

    expect(stored(harness)).toEqual(['It is a long story.']);
    expect(model.requests.map(({ settings }) => settings.response_format)).toEqual([
      { type: 'json_object' },
      undefined,
    ]);
  });

  it('does not ask for more than its model may be sent, and keeps what it has (I13)', async () => {
    const piece = 'A long answer. '.repeat(2_000); // 7,500 tokens
    const model = inPieces(cut(piece), cut(piece), cut(piece), cut(piece));
    const harness = new RunHarness({ model, settings: { context: { input_budget_tokens: 20_000 } } });

    await harness.activate();

    expect(stored(harness)).toEqual([piece.repeat(3)]);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'length' } });
  });

  it('does not ask when it is turned off', async () => {
    const harness = new RunHarness({
      model: inPieces(cut('a')),
      settings: settingsWith({ native_max_auto_continues: 0 }),
    });

    await harness.activate();

    expect(stored(harness)).toEqual(['a']);
  });
});

describe('the profiles', () => {
  it('ii runs one call a turn and ends with its answer', async () => {
    const tools = new LedgeredTools();
    const view = { name: 'str_replace_editor', arguments: { command: 'view', path: '.' } };
    const model = new ScriptedModel([calls(view, view), calls({ name: 'complete', arguments: { answer: '42' } })]);
    const harness = new RunHarness({ model, tools, settings: { profile: 'ii' } });

    await harness.activate();

    expect(tools.effects.size).toBe(1);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'complete' } });
  });

  it('symphony takes one decision, a tool', async () => {
    const model = new ScriptedModel([says('{"tool_name": "list_files", "parameters": {}}'), says('never asked')]);
    const harness = new RunHarness({ model, settings: { profile: 'symphony' } });

    await harness.activate();

    expect(model.requests).toHaveLength(1);
    expect(harness.types).toContain('tool.completed');
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('symphony asks once more for JSON, then takes what it got', async () => {
    const model = new ScriptedModel([says('I think so.'), says('Still no JSON.')]);
    const harness = new RunHarness({ model, settings: { profile: 'symphony' } });

    await harness.activate();

    expect(model.requests).toHaveLength(2);
    expect(harness.types).toContain('iteration.restarted');
    expect(harness.state.conversation.at(-1)?.metadata).toMatchObject({ decision: 'malformed' });
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('symphony takes a valid "none" as a decision', async () => {
    const model = new ScriptedModel([says('{"tool_name": "none", "response": "Four."}')]);
    const harness = new RunHarness({ model, settings: { profile: 'symphony' } });

    await harness.activate();

    expect(harness.state.conversation.at(-1)).toMatchObject({
      content: [{ text: 'Four.' }],
      metadata: { decision: 'none' },
    });
  });
});
