import { type RecordedFact, callId, runId, sha256 } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, type Turn, calls, says } from '@rondo/domain/testing';
import { makeRecording } from './make-recording';
import { replayRun } from './replay-run';
import { endedRun, recordedRun } from './testing/recorded-run';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const write = { name: 'create_file', arguments: { file_path: 'a.txt', file_contents: 'x\n"quoted"' } };
const command = { name: 'execute_command', arguments: { command: 'make', blocking: true } };
const think = {
  name: 'sequential_thinking',
  arguments: { thought: 'Hm.', thought_number: 1, total_thoughts: 1, next_thought_needed: false },
};

const script: Turn[] = [
  [{ type: 'reasoning', text: 'First I write.' }, { type: 'reasoning_end' }, ...calls(write)],
  [{ type: 'text', text: 'Now three at once.' }, ...calls(command, read, command)],
  calls({ name: 'fly', arguments: {} }, think, { name: 'read_file', arguments: '{"file_path": ' }),
  says('All done.'),
];

/** The calls of a turn are answered in another order than they were sent. */
class LateTools extends LedgeredTools {
  override async execute(...call: Parameters<LedgeredTools['execute']>) {
    const answer = await super.execute(...call);
    for (let tick = 0; tick < 10 - 2 * call[0].index; tick += 1) await Promise.resolve();
    return answer;
  }
}

const build = (processor: object = {}, tools = new LedgeredTools()) =>
  new RunHarness({ model: new ScriptedModel(script), tools, settings: { processor } });

describe('a replayed run', () => {
  it.each([
    [{ tool_execution_strategy: 'parallel' }],
    [{ tool_execution_strategy: 'sequential' }],
    [{ execute_on_stream: true }],
  ] as const)('has the same requests and facts as its recording with %j', async (processor) => {
    const recording = await recordedRun({
      model: new ScriptedModel(script),
      tools: new LateTools(),
      settings: { processor },
    });

    const replayed = await replayRun(recording);

    expect(replayed).toEqual({ difference: null, requests: recording.requests, facts: recording.facts.length });
    expect(recording.requests).toHaveLength(recording.facts.filter(({ type }) => type === 'usage.recorded').length);
    expect(recording.requests.length).toBeGreaterThan(2);
  });

  const invoke = (path: string) =>
    `<function_calls>\n<invoke name="read_file">\n<parameter name="file_path">${path}</parameter>\n</invoke>\n</function_calls>`;

  it.each([
    ['xml_invoke', [`I look.\n\n${invoke('a.txt')}\nand\n${invoke('b.txt')}`, 'Done.']],
    ['xml_tag', ['I look.\n<read-file file_path="a.txt"></read-file>', 'Done: a < b.']],
    [
      'json',
      [
        '{"tool_name": "read_file", "parameters": {"file_path": "a.txt"}}',
        '{"tool_name": "none", "response": "Done."}',
      ],
    ],
  ] as const)('is the same with calls that are text, in %s', async (dialect, texts) => {
    const model = new ScriptedModel(texts.map((text) => says(text)));

    const recording = await recordedRun({ model, settings: { processor: { dialect, max_tool_calls: 0 } } });

    expect(recording.facts.some(({ type }) => type === 'tool.completed')).toBe(true);
    expect(await replayRun(recording)).toMatchObject({ difference: null, facts: recording.facts.length });
  });

  it('asks the model what the run asked it', async () => {
    const model = new ScriptedModel(script);

    const { requests } = await recordedRun({ model });

    expect(requests).toEqual(
      model.requests.map(({ system, messages, tools, settings, model: name }) =>
        JSON.parse(JSON.stringify({ system, messages, tools, settings, model: name })),
      ),
    );
  });

  it.each(['before', 'after'] as const)(
    'is the same though a worker was killed %s every single write',
    async (position) => {
      let steps = 0;
      await build().activate((_, at) => (at === 'after' ? steps++ : undefined));
      for (let step = 0; step < steps; step++) {
        const harness = build();
        await harness.crashAt({ step, position });
        await harness.runOn();

        const { difference } = await replayRun(await makeRecording(endedRun(harness), null));

        expect({ step, difference }).toEqual({ step, difference: null });
      }
    },
  );

  it('is given the answers of people', async () => {
    const ask = { name: 'ask', arguments: { text: 'Which one?' } };
    const harness = new RunHarness({ model: new ScriptedModel([calls(ask), says('So that one.')]) });
    await harness.runOn();
    harness.store.answer(harness.id, 'The second.');
    await harness.runOn();

    const recording = await makeRecording(endedRun(harness), null);

    expect(await replayRun(recording)).toMatchObject({ difference: null });
    expect(JSON.stringify(recording.requests[1])).toContain('The second.');
  });

  it('is given the approval and the denial of calls', async () => {
    const harness = new RunHarness({
      model: new ScriptedModel([calls(command), calls(read), says('Well.')]),
      settings: { tools: { execute_command: { require_approval: true }, read_file: { require_approval: true } } },
    });
    await harness.runOn();
    harness.store.decide(harness.id, openCall(harness), { outcome: 'approve' } as never);
    await harness.runOn();
    harness.store.decide(harness.id, openCall(harness), { outcome: 'deny', reason: 'No.' } as never);
    await harness.runOn();

    expect(harness.types).toContain('approval.decided');
    expect(await replayRun(await makeRecording(endedRun(harness), null))).toMatchObject({ difference: null });
  });

  it('is given the answers to what servers ask through their calls', async () => {
    const rounds = [['one', 'two'], ['three']].values();
    const tools = new LedgeredTools(() => {
      const keys = rounds.next().value;
      return keys ? { state: 'signed', asked: keys.map(toQuestion) } : 'done';
    });
    const harness = new RunHarness({ model: new ScriptedModel([calls(command), says('Done.')]), tools });
    for (const key of ['one', 'two', 'three']) {
      await harness.runOn();
      const tool_call_id = askingCall(harness);
      const answer = { action: 'accept' as const, content: { a: 1 } };
      expect(harness.store.giveInput(harness.id, { tool_call_id, key, answer, answeredBy: 'key_1' })).toBe(true);
    }
    await harness.runOn();

    expect(harness.types.filter((type) => type === 'tool.input_requested')).toHaveLength(2);
    const recording = await makeRecording(endedRun(harness), null);
    expect(await replayRun(recording)).toMatchObject({ difference: null, facts: recording.facts.length });
  });

  it('has results that were too long for the log', async () => {
    const tools = new LedgeredTools(() => 'long '.repeat(30_000));

    const recording = await recordedRun({ model: new ScriptedModel([calls(read), says('Done.')]), tools });

    expect(await replayRun(recording)).toMatchObject({ difference: null });
  });

  it('has what calls have shown beside their results', async () => {
    const image = { sha256: sha256.parse('a'.repeat(64)), media_type: 'image/png', width: 10, height: 10 } as const;
    const tab = { page_id: 0, title: 'Page', url: 'https://a.example', is_active: true };
    const view = { url: tab.url, title: tab.title, elements: '[0]<a>', pixels_above: 0, pixels_below: 9, tabs: [tab] };
    const tools = new LedgeredTools(({ name }) =>
      name === 'read_file'
        ? { success: true, output: 'a picture', image }
        : { success: true, output: 'shown', browser: { ...view, screenshot: image } },
    );

    const recording = await recordedRun({
      model: new ScriptedModel([calls(read), calls(command), says('Done.')]),
      tools,
    });

    expect(recording.facts.some(({ type }) => type === 'browser.state')).toBe(true);
    expect(await replayRun(recording)).toMatchObject({ difference: null });
  });

  it('has the retries of a model, its broken replies, and the model that stands in', async () => {
    const error = { code: 'service_unavailable', message: 'Later.' };
    const usage = { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd: null, estimated: true };
    const turns: Turn[] = [
      [{ type: 'retried', attempt: 1, delayMs: 10, error }, ...calls(read)],
      [
        { type: 'text', text: 'Half' },
        { type: 'end', how: 'broken', error, usage, retryAfterMs: 20 },
      ],
      [{ type: 'end', how: 'failed', error }],
      says('Done.'),
    ];
    const left = turns.values();
    const model = {
      async *stream() {
        yield left.next().value ?? says('Too often.');
      },
    };

    const recording = await recordedRun({ model, settings: { fallbacks: ['demo/plain'] } });

    const types = recording.facts.map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['model.retried', 'iteration.restarted', 'model.fell_back', 'run.completed']),
    );
    expect(await replayRun(recording)).toMatchObject({ difference: null, requests: { length: 4 } });
  });

  it.each([
    ['before its first word', []],
    ['in a call, which is withdrawn before the end', calls(read).slice(0, -1)],
  ])('fails as the run did %s', async (_, shown) => {
    const error = { code: 'model_refused', message: 'No.' };
    const model = new ScriptedModel([calls(read), [...shown, { type: 'end', how: 'failed', error }]]);

    const recording = await recordedRun({ model });

    expect(recording.facts.at(-1)?.type).toBe('run.failed');
    expect(recording.facts.at(-2)?.type === 'iteration.restarted').toBe(shown.length > 0);
    expect(await replayRun(recording)).toMatchObject({ difference: null, facts: recording.facts.length });
  });

  it('is given what a person told it at work', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([calls(read), says('Done.'), says('In blue.')]) });
    const content = [{ type: 'text' as const, text: 'In blue?' }];
    let told = false;
    await harness.activate((step) => {
      if (told || !('facts' in step) || step.facts[0]?.iteration !== 2) return;
      told = harness.store.steer(harness.id, { queuedRun: runId.parse('run_2'), content });
    });
    await harness.runOn();

    const recording = await makeRecording(endedRun(harness), null);

    expect(JSON.stringify(recording.requests[2])).toContain('In blue?');
    expect(await replayRun(recording)).toMatchObject({ difference: null, facts: recording.facts.length });
  });
});

const openCall = ({ log }: RunHarness) =>
  callId.parse(log.flatMap((fact) => (fact.type === 'approval.requested' ? [fact.data.tool_call_id] : [])).at(-1));

const toQuestion = (key: string) => ({
  key,
  server: 'tickets',
  mode: 'form' as const,
  message: `${key}?`,
  fields: {},
});

const askingCall = ({ log }: RunHarness) =>
  callId.parse(log.flatMap((fact) => (fact.type === 'tool.input_requested' ? [fact.data.tool_call_id] : [])).at(-1));

describe('where the paths part', () => {
  const recorded = () => recordedRun({ model: new ScriptedModel(script) });

  it('is the first iteration where the system prompt is another', async () => {
    const recording = await recorded();
    const { settings } = recording.run;
    const agent = { ...settings.agent, system_prompt: 'You are brief.' };

    const { difference, facts } = await replayRun({
      ...recording,
      run: { ...recording.run, settings: { ...settings, agent } },
    });

    expect(difference).toMatchObject({ iteration: 1, where: 'system prompt', problem: 'the prompt differs' });
    expect(difference?.diff).toContain('+ You are brief.');
    expect(facts).toBeLessThan(recording.facts.length);
  });

  it('is the message that differs, and its line', async () => {
    const recording = await recorded();
    const answers = recording.facts.flatMap((fact) => (fact.type === 'tool.completed' ? [fact.data] : []));
    const changed = answers.find(({ name }) => name === 'execute_command')?.tool_call_id;
    const facts = recording.facts.map((fact) => (isAbout(fact, changed) ? saying(fact, 'it failed') : fact));

    const { difference } = await replayRun({ ...recording, facts });

    expect(difference).toMatchObject({ iteration: 3, where: 'message 5 (tool)', problem: 'the prompt differs' });
    expect(difference?.diff).toEqual(['- did execute_command', '+ it failed']);
  });

  it('is the fact that the engine writes otherwise', async () => {
    const recording = await recorded();
    const { settings } = recording.run;
    const limits = { ...settings.limits, max_iterations: 2 };

    const { difference } = await replayRun({
      ...recording,
      run: { ...recording.run, settings: { ...settings, limits } },
    });

    expect(difference).toMatchObject({ iteration: 2, problem: 'the engine writes run.completed instead' });
    expect(difference?.where).toMatch(/^fact \d+ \(iteration.started\)$/);
  });
});

const isAbout = (fact: RecordedFact, call: string | undefined): boolean =>
  JSON.stringify(fact).includes(`"tool_call_id":"${call}"`);

const saying = (fact: RecordedFact, output: string): RecordedFact =>
  JSON.parse(JSON.stringify(fact).replace('did execute_command', output)) as RecordedFact;

describe('a run that cannot be recorded', () => {
  it('is one that is not over', async () => {
    const harness = build();
    await harness.crashAt({ step: 5, position: 'after' });

    await expect(makeRecording(endedRun(harness), null)).rejects.toThrow('it is running');
  });

  it('is one whose log the loop does not write again', async () => {
    const harness = build();
    await harness.runOn();
    const { facts, ...rest } = endedRun(harness);
    const cut = facts.filter(({ type }) => type !== 'iteration.completed');

    await expect(makeRecording({ ...rest, facts: cut }, null)).rejects.toThrow(
      /the loop does not write its log again: iteration 1, fact \d+ \(iteration.started\): the engine writes iteration.completed/,
    );
  });
});
