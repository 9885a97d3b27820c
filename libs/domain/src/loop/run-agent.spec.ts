import { LedgeredTools, RunHarness, ScriptedModel, breaksAfter, calls, finished, says } from '../testing';
import type { ToolAnswer, Tools } from '../ports';

const list = { name: 'list_files', arguments: { path: '.' } };
const run = { name: 'execute_command', arguments: { command: 'date', blocking: true } };

describe('runAgent', () => {
  it('answers with what the tool found', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([calls(list), says('One file.')]) });

    await harness.activate();

    expect(harness.types).toEqual([
      'run.created', 'message.created', 'run.started',
      'iteration.started', 'message.created', 'usage.recorded', 'tool.planned', 'tool.started',
      'tool.completed', 'message.created', 'iteration.completed',
      'iteration.started', 'message.created', 'usage.recorded', 'iteration.completed', 'run.completed',
    ]); // prettier-ignore
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('shows exactly the text that it stores (I13)', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([says('Grüße, 世界 👋')]) });

    await harness.activate();

    const shown = harness.deltas.map(({ text }) => text).join('');
    const stored = harness.log
      .flatMap((fact) => (fact.type === 'message.created' ? fact.data.message.content : []))
      .at(-1);
    expect(stored).toEqual({ type: 'text', text: shown });
    expect(new Set(harness.deltas.map(({ streamId }) => streamId))).toEqual(
      new Set([harness.state.conversation.at(-1)?.id]),
    );
  });

  it('sends the model every call with its result next to it, in the order of the calls (I6)', async () => {
    const model = new ScriptedModel([calls(run, list, run), says('Done.')]);
    const harness = new RunHarness({ model, tools: answersInReverse() });

    await harness.activate();

    const [, assistant, tool] = model.requests[1]?.messages ?? [];
    const asked =
      assistant?.role === 'assistant' ? assistant.content.flatMap((b) => (b.type === 'tool_call' ? b.id : [])) : [];
    expect(asked).toHaveLength(3);
    expect(tool?.role === 'tool' && tool.results.map((result) => result.tool_call_id)).toEqual(asked);
  });

  it('parks on a question and goes on with the answer in the same run', async () => {
    const question = calls({ name: 'ask', arguments: { text: 'Which colour?', attachments: 'a.png' } });
    const model = new ScriptedModel([question, says('Blue it is.')]);
    const harness = new RunHarness({ model });

    await harness.activate();
    expect(harness.store.status(harness.id)).toBe('waiting_input');
    expect(harness.log.at(-1)?.data).toMatchObject({
      reason: 'ask',
      question: { text: 'Which colour?', attachments: ['a.png'] },
    });
    expect(await harness.activate()).toBe(false);

    harness.store.answer(harness.id, 'Blue.');
    await harness.activate();
    expect(harness.store.status(harness.id)).toBe('completed');
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('Blue.');
  });

  it('goes on where it was to find an answer and completes without one', async () => {
    const model = new ScriptedModel(
      [{}, { answer: '42' }].map((given) => calls({ name: 'complete', arguments: given })),
    );
    const harness = new RunHarness({ model, settings: { profile: 'ii' } });

    await harness.activate();

    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('complete needs `answer`');
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'complete' } });
  });

  it.each([
    ['iterations', { limits: { max_iterations: 1 } }, 'max_iterations'],
    ['tokens', { budget: { tokens: 1 } }, 'budget_exceeded'],
  ])('asks nobody for an answer that it may not read: it has no %s left', async (_, settings, finish_reason) => {
    const harness = new RunHarness({
      model: new ScriptedModel([calls({ name: 'ask', arguments: { text: '?' } })]),
      settings,
    });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason } });
  });

  it('ends when the model says that the task is complete', async () => {
    const harness = new RunHarness({
      model: new ScriptedModel([calls({ name: 'complete', arguments: { text: 'Made it.' } })]),
    });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'complete' } });
  });

  it('runs nothing after the call that ends the turn, one after the other (RP11)', async () => {
    const tools = new LedgeredTools();
    const model = new ScriptedModel([calls(run, { name: 'complete', arguments: {} }, run)]);
    const settings = { processor: { tool_execution_strategy: 'sequential' as const } };
    const harness = new RunHarness({ model, tools, settings });

    await harness.activate();

    expect(tools.effects.size).toBe(1);
    expect(harness.types.filter((type) => type === 'tool.failed')).toHaveLength(1);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('ends at its limit of iterations', async () => {
    const model = new ScriptedModel(Array.from({ length: 9 }, () => calls(list)));
    const harness = new RunHarness({ model, settings: { limits: { max_iterations: 3 } } });

    await harness.activate();

    expect(model.requests).toHaveLength(3);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'max_iterations' } });
  });

  it('fails when it takes longer than it may, waiting for people left out', async () => {
    const model = new ScriptedModel(Array.from({ length: 9 }, () => calls(list)));
    const harness = new RunHarness({ model, settings: { limits: { max_duration_s: 1 } }, tickMs: 300 });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.failed',
      data: { error: { code: 'max_duration_exceeded' } },
    });
  });

  it('takes silence after the results of tools for an end (LP23)', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([calls(list), [finished('stop')]]) });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it.each([
    ['tokens', { tokens: 18_000 }],
    ['money', { usd: 0.0015 }],
  ])('ends when its budget of %s is spent', async (_, budget) => {
    const usage = { input_tokens: 10_000, cached_tokens: 0, output_tokens: 0, cost_usd: 0.001, estimated: false };
    const turn = calls(list).map((chunk) => (chunk.type === 'end' ? { ...chunk, usage } : chunk));
    const model = new ScriptedModel(Array.from({ length: 9 }, () => turn));
    const harness = new RunHarness({ model, settings: { budget } });

    await harness.activate();

    expect(model.requests).toHaveLength(2);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'budget_exceeded' } });
  });

  it.each([
    ['arguments that are no JSON (W11)', { name: 'list_files', arguments: '{"path": ' }, /not valid JSON/],
    ['a tool that does not exist (TR11)', { name: 'fly', arguments: {} }, /no tool named "fly".*execute_command/],
  ])('tells the model of %s, runs nothing, and goes on', async (_, call, reason) => {
    const tools = new LedgeredTools();
    const harness = new RunHarness({ model: new ScriptedModel([calls(call), says('Sorry.')]), tools });

    await harness.activate();

    expect(tools.effects.size).toBe(0);
    expect(harness.types).not.toContain('tool.started');
    const failed = harness.log.find(({ type }) => type === 'tool.failed');
    expect(failed?.data).toMatchObject({ result: { success: false, error: expect.stringMatching(reason) as string } });
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('gives up after three unreadable calls in a row (W12)', async () => {
    const unreadable = calls({ name: 'list_files', arguments: '[' });
    const harness = new RunHarness({
      model: new ScriptedModel([unreadable, calls(list), unreadable, unreadable, unreadable]),
    });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.failed',
      data: { error: { code: 'too_many_malformed_calls' } },
    });
  });

  it('answers the calls over the limit of a turn without running them (K10)', async () => {
    const tools = new LedgeredTools();
    const model = new ScriptedModel([calls(list, run), says('Fine.')]);
    const harness = new RunHarness({ model, tools, settings: { processor: { max_tool_calls: 1 } } });

    await harness.activate();

    expect(tools.effects.size).toBe(1);
    const failed = harness.log.find(({ type }) => type === 'tool.failed');
    expect(failed?.data).toMatchObject({ result: { error: expect.stringMatching(/not executed/) as string } });
  });

  it('withdraws a reply that breaks off and asks anew, and records what both cost (R4, R35)', async () => {
    let attempts = 0;
    const model = new ScriptedModel([breaksAfter('Half a sen')]);
    const scripted = {
      stream: (...args: Parameters<ScriptedModel['stream']>) =>
        (attempts++ ? new ScriptedModel([says('Whole.')]) : model).stream(...args),
    };
    const harness = new RunHarness({ model: scripted });

    await harness.activate();

    const restarted = harness.log.find((fact) => fact.type === 'iteration.restarted');
    const withdrawn = harness.deltas.find(({ text }) => text === 'Half a sen')?.streamId;
    expect(restarted?.data).toMatchObject({ withdrawn_stream_ids: expect.arrayContaining([withdrawn]) as string[] });
    expect(harness.types.filter((type) => type === 'usage.recorded')).toHaveLength(2);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it.each([
    ['breaks off', [breaksAfter('Half')]],
    ['is empty (R3)', [[finished('stop')]]],
  ])('fails when a reply %s three times', async (_, turns) => {
    const model = new ScriptedModel(turns);
    const harness = new RunHarness({ model });

    await harness.activate();

    expect(model.requests).toHaveLength(3);
    const [code, message] = ['model_no_reply', expect.any(String)];
    const error = {
      type: `urn:rondo:problem:${code}`,
      title: 'The run failed',
      status: 500,
      code,
      detail: message,
      message,
    };
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error } });
  });

  it('fails with the class of the error that the provider gave, and keeps what was shown', async () => {
    const error = { code: 'context_window_exceeded', message: 'Too long.' };
    const harness = new RunHarness({
      model: new ScriptedModel([
        [
          { type: 'text', text: 'Partly' },
          { type: 'end', how: 'failed', error },
        ],
      ]),
    });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error } });
    expect(harness.state.conversation.at(-1)).toMatchObject({ metadata: { partial: true } });
  });

  it('leaves at the boundary of an iteration when it is asked to, and goes on elsewhere', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([calls(list), says('Done.')]) });
    harness.drain.abort();

    await harness.activate();
    expect(harness.types.at(-1)).toBe('run.started');
  });

  it('keeps prompts append-only, so that the next request begins with the last one', async () => {
    const model = new ScriptedModel([calls(list), calls(run, run), says('Done.')]);
    const harness = new RunHarness({ model });

    await harness.activate();

    const texts = model.requests.map((request) => JSON.stringify(request.messages).slice(0, -1));
    texts.slice(1).forEach((text, index) => expect(text.startsWith(texts[index] ?? 'missing')).toBe(true));
    expect(new Set(model.requests.map(({ system }) => system)).size).toBe(1);
  });
});

/** Hands whose slowest answer is the first call's. */
function answersInReverse(): Tools {
  const waiting: (() => void)[] = [];
  const answer: ToolAnswer = { how: 'answered', result: { success: true, output: 'ok' }, durationMs: 1 };
  const execute = () =>
    new Promise<ToolAnswer>((resolve) => {
      waiting.unshift(() => resolve(answer));
      if (waiting.length === 3) waiting.forEach((release) => release());
    });
  return { store: null, execute, reattach: execute, endRun: () => Promise.resolve([]) };
}
