import type { ToolAnswer, Tools } from '../ports';
import {
  LedgeredTools,
  RunHarness,
  ScriptedModel,
  type Turn,
  breaksAfter,
  calls,
  finished,
  says,
  untoldStreams,
} from '../testing';

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

  it('parks on a question and continues the same run with the answer', async () => {
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

  it('continues when the model calls complete without the answer that its profile requires', async () => {
    const model = new ScriptedModel(
      [{}, { answer: '42' }].map((given) => calls({ name: 'complete', arguments: given })),
    );
    const harness = new RunHarness({ model, settings: { profile: 'ii' } });

    await harness.activate();

    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('complete needs `answer`');
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'complete' } });
  });

  it('completes when the model calls complete', async () => {
    const harness = new RunHarness({
      model: new ScriptedModel([calls({ name: 'complete', arguments: { text: 'Made it.' } })]),
    });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'complete' } });
  });

  it('runs no sequential call after the one that ends the turn', async () => {
    const tools = new LedgeredTools();
    const model = new ScriptedModel([calls(run, { name: 'complete', arguments: {} }, run)]);
    const settings = { processor: { tool_execution_strategy: 'sequential' as const } };
    const harness = new RunHarness({ model, tools, settings });

    await harness.activate();

    expect(tools.effects.size).toBe(1);
    expect(harness.types.filter((type) => type === 'tool.failed')).toHaveLength(1);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('completes at its iteration limit', async () => {
    const model = new ScriptedModel(Array.from({ length: 9 }, () => calls(list)));
    const harness = new RunHarness({ model, settings: { limits: { max_iterations: 3 } } });

    await harness.activate();

    expect(model.requests).toHaveLength(3);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'max_iterations' } });
  });

  it('fails when its active time exceeds its limit', async () => {
    const model = new ScriptedModel(Array.from({ length: 9 }, () => calls(list)));
    const harness = new RunHarness({ model, settings: { limits: { max_duration_s: 1 } }, tickMs: 300 });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.failed',
      data: { error: { code: 'max_duration_exceeded' } },
    });
  });

  it('asks once more after an empty reply to tool results, and takes a second one as the end', async () => {
    const model = new ScriptedModel([calls(list), [finished('stop')]]);
    const harness = new RunHarness({ model });

    await harness.activate();

    expect(model.requests).toHaveLength(3);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it.each([
    ['tokens', { tokens: 18_000 }],
    ['money', { usd: 0.0015 }],
  ])('ends when its budget of %s is spent', async (_, budget) => {
    const usage = { input_tokens: 10_000, cached_tokens: 0, output_tokens: 0, cost_usd: 0.001, estimated: false };
    const turn = calls(list).map((chunk) => (chunk.type === 'end' ? { ...chunk, usage } : chunk));
    const model = new ScriptedModel(Array.from({ length: 9 }, () => turn));
    const harness = new RunHarness({ model, settings: { budget, tools: [list.name] } });

    await harness.activate();

    expect(model.requests).toHaveLength(2);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'budget_exceeded' } });
  });

  it.each([
    ['arguments that are not JSON', { name: 'list_files', arguments: '{"path": ' }, /not valid JSON/],
    ['a tool that does not exist', { name: 'fly', arguments: {} }, /no tool named "fly".*execute_command/],
  ])('tells the model about %s, runs nothing, and continues', async (_, call, reason) => {
    const tools = new LedgeredTools();
    const harness = new RunHarness({ model: new ScriptedModel([calls(call), says('Sorry.')]), tools });

    await harness.activate();

    expect(tools.effects.size).toBe(0);
    expect(harness.types).not.toContain('tool.started');
    const failed = harness.log.find(({ type }) => type === 'tool.failed');
    expect(failed?.data).toMatchObject({ result: { success: false, error: expect.stringMatching(reason) as string } });
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('fails after three malformed calls in a row', async () => {
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

  it('does not end for numbers that it could not keep, however many calls have them, and sends none of these', async () => {
    const tools = new LedgeredTools();
    const long = { name: 'list_files', arguments: '{"path": 820982911946154508}' };
    const model = new ScriptedModel([calls(long, long, long, long), says('Sorry.')]);
    const harness = new RunHarness({ model, tools });

    await harness.activate();

    expect(tools.effects.size).toBe(0);
    const failed = harness.log.filter(({ type }) => type === 'tool.failed');
    expect(failed.map(({ data }) => (data as { result: { error: string } }).result.error)).toEqual(
      Array(4).fill('Not all digits of 820982911946154508 can be kept: write it as a string. Send the call again.'),
    );
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('answers calls over the limit of a turn without running them', async () => {
    const tools = new LedgeredTools();
    const model = new ScriptedModel([calls(list, run), says('Fine.')]);
    const harness = new RunHarness({ model, tools, settings: { processor: { max_tool_calls: 1 } } });

    await harness.activate();

    expect(tools.effects.size).toBe(1);
    const failed = harness.log.find(({ type }) => type === 'tool.failed');
    expect(failed?.data).toMatchObject({ result: { error: expect.stringMatching(/not executed/) as string } });
  });

  /** A reply that breaks off, after which its provider needs a pause; then these. */
  function breaksOnce(...turns: Turn[]) {
    const broken = breaksAfter('Half a sen').map((chunk) =>
      chunk.type === 'end' ? { ...chunk, retryAfterMs: 500 } : chunk,
    );
    let attempts = 0;
    const model = new ScriptedModel([broken]);
    const again = new ScriptedModel(turns);
    const stream = (...args: Parameters<ScriptedModel['stream']>) => (attempts++ ? again : model).stream(...args);
    return { scripted: { stream }, again };
  }

  it('withdraws a broken reply, retries, and records the cost of both attempts', async () => {
    const { scripted, again } = breaksOnce(says('Whole.'));
    const harness = new RunHarness({ model: scripted });

    await harness.activate();

    const restarted = harness.log.find((fact) => fact.type === 'iteration.restarted');
    const withdrawn = harness.deltas.find(({ text }) => text === 'Half a sen')?.streamId;
    const error = { code: 'connection_error', message: 'The stream broke off.' };
    expect(restarted?.data).toMatchObject({
      withdrawn_stream_ids: [withdrawn],
      retry: { attempt: 1, delay_ms: 500, error },
    });
    expect(harness.types).not.toContain('model.retried');
    expect(again.requests).toMatchObject([{ delayMs: 500, lostReplies: 1 }]);
    expect(harness.types.filter((type) => type === 'usage.recorded')).toHaveLength(2);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it('pauses after a broken reply before the next attempt, and not before what continues that', async () => {
    const { scripted, again } = breaksOnce([{ type: 'text', text: 'Who' }, finished('length')], says('le.'));
    const harness = new RunHarness({ model: scripted });

    await harness.activate();

    expect(again.requests.map(({ delayMs }) => delayMs)).toEqual([500, undefined]);
    expect(harness.store.status(harness.id)).toBe('completed');
  });

  it.each([['breaks off', [breaksAfter('Half')], ' The last one ended with connection_error: The stream broke off.']])(
    'fails when a reply %s three times, with the cause',
    async (_, turns, cause) => {
      const model = new ScriptedModel(turns);
      const harness = new RunHarness({ model });

      await harness.activate();

      expect(model.requests).toHaveLength(3);
      const message = `The model gave no complete reply, 3 times in a row.${cause}`;
      const code = 'model_no_reply';
      const error = {
        type: `urn:rondo:problem:${code}`,
        title: 'The run failed',
        status: 500,
        code,
        detail: message,
        message,
      };
      expect(harness.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error } });
    },
  );

  it('completes with a text of its own when a reply is empty three times', async () => {
    const model = new ScriptedModel([[{ type: 'text', text: '\n' }, finished('stop')]]);
    const harness = new RunHarness({ model });

    await harness.activate();

    expect(model.requests).toHaveLength(3);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
    const said = harness.state.conversation.at(-1)?.content.map((block) => ('text' in block ? block.text : ''));
    expect(said?.join('').trim()).toBe('Completed the task.');
    expect(untoldStreams(harness.log, harness.deltas)).toEqual([]);
  });

  it('claims to have completed nothing when the thoughts of a model take all the tokens of its reply', async () => {
    const model = new ScriptedModel([[{ type: 'reasoning', text: 'Let me think…' }, finished('length')]]);
    const harness = new RunHarness({ model });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'length' } });
    expect(harness.state.conversation.at(-1)?.content.at(-1)).toEqual({
      type: 'text',
      text: '[The model reached its output limit before it said anything.]',
    });
    expect(untoldStreams(harness.log, harness.deltas)).toEqual([]);
  });

  it('ends with its calls where it executes none', async () => {
    const model = new ScriptedModel([calls(list), says('Never said.')]);
    const harness = new RunHarness({ model, settings: { processor: { execute_tools: false } } });

    await harness.activate();

    expect(model.requests).toHaveLength(1);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'tool_calls' } });
  });

  it('fails with the error code of the provider and keeps the text that was shown', async () => {
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
    expect(harness.types.filter((type) => type === 'iteration.restarted')).toEqual([]);
    expect(harness.state.conversation.at(-1)).toMatchObject({ metadata: { partial: true } });
  });

  it('has nothing after its end when the provider fails within a call (I2)', async () => {
    const error = { code: 'invalid_request', message: 'No.' };
    const turn: Turn = [
      { type: 'text', text: 'Partly' },
      { type: 'call_start', index: 0, name: 'read_file' },
      { type: 'call_arguments', index: 0, text: '{"file_pa' },
      { type: 'end', how: 'failed', error },
    ];
    const harness = new RunHarness({ model: new ScriptedModel([turn]) });

    await harness.activate();

    expect(harness.types.slice(-2)).toEqual(['iteration.restarted', 'run.failed']);
  });

  it('leaves the run at an iteration boundary when it drains', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([calls(list), says('Done.')]) });
    harness.drain.abort();

    await harness.activate();
    expect(harness.types.at(-1)).toBe('run.started');
  });

  it('keeps prompts append-only: each request begins with the previous one', async () => {
    const model = new ScriptedModel([calls(list), calls(run, run), says('Done.')]);
    const harness = new RunHarness({ model });

    await harness.activate();

    const texts = model.requests.map((request) => JSON.stringify(request.messages).slice(0, -1));
    texts.slice(1).forEach((text, index) => expect(text.startsWith(texts[index] ?? 'missing')).toBe(true));
    expect(new Set(model.requests.map(({ system }) => system)).size).toBe(1);
  });
});

/** Answers in the reverse order of the calls. */
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
