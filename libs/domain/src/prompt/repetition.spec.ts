import { findRange } from '../context/message-range';
import { initialContext } from '../run/context-state';
import { LedgeredTools, RunHarness, ScriptedModel, type Turn, calls, inPieces, says } from '../testing';
import { requestViolations } from '../testing/request-violations';
import { builtInTools } from '../tools/catalog';
import { findWarning, isStuck } from './repetition';

const looks = calls({ name: 'list_files', arguments: { path: '.' } });
const elsewhere = calls({ name: 'list_files', arguments: { path: 'src' } });
const asks = calls({ name: 'ask', arguments: { text: 'Shall I look again?' } });
const stuck = { type: 'run.completed', data: { finish_reason: 'loop_detected' } };

const createHarness = (model: ScriptedModel, limits = { max_identical_calls: 4 }) =>
  new RunHarness({ model, settings: { limits } });

describe('repetition', () => {
  it('ends a run at its limit of identical calls', async () => {
    const harness = createHarness(new ScriptedModel([looks, looks, looks, looks, says('Never said.')]));

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ ...stuck, iteration: 4 });
  });

  it('warns the model first, in its request and not in the conversation', async () => {
    const model = new ScriptedModel([looks, looks, says('Enough.')]);
    const harness = createHarness(model);

    await harness.activate();

    const warnings = model.requests.map(({ messages }) => /the same (\d) times/.exec(JSON.stringify(messages))?.[1]);
    expect(warnings).toEqual([undefined, undefined, '2']);
    expect(JSON.stringify(harness.state.conversation)).not.toContain('times in a row');
  });

  it.each([
    ['native', looks, 'Enough.'],
    ['xml_invoke', says(`<function_calls><invoke name="list_files"></invoke></function_calls>`), 'Enough.'],
    ['xml_tag', says('<list-files></list-files>'), 'Enough.'],
    ['json', says('{"tool_name": "list_files", "parameters": {}}'), '{"tool_name": "none", "response": "Enough."}'],
  ] as const)('sends valid requests with the warning: %s (I6)', async (dialect, look, end) => {
    const model = new ScriptedModel([look, look, look, says(end)]);
    const settings = { limits: { max_identical_calls: 4 }, processor: { dialect } };
    const harness = new RunHarness({ model, settings });

    await harness.activate();

    expect(model.requests.flatMap(({ messages }) => requestViolations(messages))).toEqual([]);
    expect(JSON.stringify(model.requests[3]?.messages)).toContain('the same 3 times in a row');
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('counts only identical calls in a row', async () => {
    const turns = [looks, looks, looks, elsewhere, looks, looks, looks, says('All seen.')];
    const harness = createHarness(new ScriptedModel(turns));

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('restarts the count after a message of the user', async () => {
    const harness = createHarness(new ScriptedModel([asks, asks, asks, says('Seen.')]), { max_identical_calls: 2 });

    for (const answer of ['No.', 'No.', 'No.']) {
      await harness.activate();
      harness.store.answer(harness.id, answer);
    }
    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('has no limit when max_identical_calls is 0', async () => {
    const model = new ScriptedModel([...Array<Turn>(12).fill(looks), says('Done.')]);
    const harness = createHarness(model, { max_identical_calls: 0 });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
    expect(JSON.stringify(model.requests)).not.toContain('times in a row');
  });

  it.each(['suna', 'ii'] as const)('warns after 3 and ends after 10 by default (%s)', async (profile) => {
    const model = new ScriptedModel([...Array<Turn>(30).fill(looks), says('Never said.')]);
    const harness = new RunHarness({ model, settings: { profile } });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ ...stuck, iteration: 10 });
    const warnings = model.requests.map(({ messages }) => /the same (\d) times/.exec(JSON.stringify(messages))?.[1]);
    expect(warnings).toEqual([undefined, undefined, undefined, '3', '4', '5', '6', '7', '8', '9']);
  });

  it.each([
    ['check_command_output', { session_name: 'build' }, 'compiling\n[still running, since 12:00]', 'stop'],
    ['list_commands', {}, 'build: still running, since 12:00: make', 'stop'],
    ['check_command_output', { session_name: 'build' }, 'done\n[ended with exit code 0 after 9.0 s]', 'loop_detected'],
    ['read_file', { file_path: 'log' }, 'build: still running, since 12:00: make', 'loop_detected'],
  ])('does not count a %s that polls a running process: %s, %j ends as %s', async (name, input, output, reason) => {
    const asking = calls({ name, arguments: input });
    const model = new ScriptedModel([...Array<Turn>(12).fill(asking), says('Done.')]);
    const harness = new RunHarness({ model, tools: new LedgeredTools(() => output) });

    await harness.activate();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: reason } });
  });

  it('reads no further back than the repetition goes', async () => {
    const harness = createHarness(new ScriptedModel([looks, looks, elsewhere, looks, says('All seen.')]));
    await harness.activate();
    const { conversation } = harness.state;
    const early = conversation.slice(1, 3).map((message) => ({ ...message, content: unreadable }));

    const state = { conversation: [...early, ...conversation.slice(3, -1)], context: initialContext };

    expect(isStuck({ run: { id: harness.id, settings: harness.settings, tools: builtInTools }, state })).toBe(false);
  });

  it.each([
    ['all of it', [...Array<Turn>(9).fill(looks)], '9'],
    ['from where it begins', [elsewhere, elsewhere, ...Array<Turn>(7).fill(looks)], '7'],
    ['after what else was done since', [...Array<Turn>(8).fill(looks), elsewhere], undefined],
  ])('counts what summaries replace, which is not read any more: %s', async (_, turns, times) => {
    const model = inPieces(...turns, says('Enough.'));
    const harness = new RunHarness({
      model,
      tools: new LedgeredTools(() => 'x'.repeat(4_000)),
      summarizer: inPieces(...Array<Turn>(9).fill(says('LATEST STATE: it looks.'))),
      settings: { context: { input_budget_tokens: 10_000, token_threshold: 9_000, reserve_tokens: 500 } },
    });
    await harness.runOn();
    const { conversation, context } = harness.state;
    const covers = findRange(conversation, context.summary?.covers);
    const read = conversation.filter((_message, index) => !covers || index === covers.first || index >= covers.last);

    const run = { id: harness.id, settings: harness.settings, tools: builtInTools };
    const warning = findWarning({ run, state: { conversation: read.slice(0, -1), context } });

    expect(harness.types.filter((type) => type === 'context.compacted').length).toBeGreaterThan(1);
    expect(read.length).toBeLessThan(conversation.length);
    expect(/the same (\d) times/.exec(warning ?? '')?.[1]).toBe(times);
  });
});

const unreadable = new Proxy([], {
  get: () => {
    throw new Error('read');
  },
});
