import { type RecordedFact, type SettingsRequest, isTerminal, isTerminalFact } from '@rondo/contract';
import fc from 'fast-check';
import { LedgeredTools, RunHarness, ScriptedModel, type Turn, calls, says, using } from '../testing';

const asks = { name: 'ask', arguments: { text: 'Which one?' } };
const list = { name: 'list_files', arguments: { path: '.' } };
const malformed = { name: 'list_files', arguments: '[' };

const build = (turns: readonly Turn[], settings: SettingsRequest = {}) => {
  const model = new ScriptedModel(turns);
  const tools = new LedgeredTools();
  return { model, tools, harness: new RunHarness({ model, tools, settings }) };
};

const status = ({ store, id }: RunHarness) => store.status(id);
const answer = ({ store, id }: RunHarness) => store.answer(id, 'This one.');
const waits = (log: readonly RecordedFact[], reason: string) =>
  log.filter((fact) => fact.type === 'run.waiting' && fact.data.reason === reason);

const spent = using(1_000_000, calls(asks));
const limits: [string, Turn, SettingsRequest, string][] = [
  ['iterations', calls(asks), { limits: { max_iterations: 1 } }, 'max_iterations'],
  ['tokens', spent, { budget: { tokens: 500_000 } }, 'budget_exceeded'],
  ['a single decision', calls(asks), { profile: 'symphony', processor: { dialect: 'native' }, tools: ['ask'] }, 'stop'],
];

describe('a question at a limit of the run', () => {
  it.each(limits)('waits with no %s left, and the run ends with the answer', async (_, turn, settings, reason) => {
    const { harness, model } = build([turn, says('Not read any more.')], settings);

    await harness.runOn();
    expect(status(harness)).toBe('waiting_input');
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.waiting', data: { question: { text: 'Which one?' } } });

    answer(harness);
    await harness.runOn();
    expect(harness.types.slice(-3)).toEqual(['run.resumed', 'message.created', 'run.completed']);
    expect(harness.log.at(-1)).toMatchObject({ data: { finish_reason: reason } });
    expect(model.requests).toHaveLength(1);
  });

  it('waits for a person in the browser as well', async () => {
    const takeover = calls({ name: 'web_browser_takeover', arguments: { text: 'A captcha.' } });
    const { harness } = build([takeover], { limits: { max_iterations: 1 } });

    await harness.runOn();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.waiting', data: { question: { text: 'A captcha.' } } });
  });

  it('waits although as many malformed calls came before it as a run may have', async () => {
    const turn = calls(asks, malformed, malformed, malformed);
    const { harness } = build([turn, says('Thanks.')], { limits: { max_malformed_calls: 3 } });

    await harness.runOn();
    expect(status(harness)).toBe('waiting_input');

    answer(harness);
    await harness.runOn();
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('goes on after the answer if the budget was raised meanwhile', async () => {
    const { harness, model } = build([spent, says('Thanks.')], { budget: { tokens: 500_000 } });
    await harness.runOn();

    harness.store.raiseBudget(harness.id, { tokens: 3_000_000 });
    expect(status(harness)).toBe('waiting_input');
    answer(harness);
    await harness.runOn();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('This one.');
  });

  it('can be stopped while it waits', async () => {
    const { harness } = build([calls(asks)], { limits: { max_iterations: 1 } });
    await harness.runOn();

    harness.store.requestStop(harness.id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
    await harness.runOn();

    expect(status(harness)).toBe('stopped');
  });
});

describe('a call that waits in the last iteration', () => {
  it.each([
    ['iterations', calls(list), { limits: { max_iterations: 1 } }, 'max_iterations'],
    ['tokens', using(1_000_000, calls(list)), { budget: { tokens: 500_000 } }, 'budget_exceeded'],
  ] as const)('is approved and runs with no %s left', async (_, turn, settings, reason) => {
    const { harness, tools } = build([turn], { ...settings, tools: { list_files: { require_approval: true } } });
    await harness.runOn();
    expect(waits(harness.log, 'approval')).toHaveLength(1);

    const [id] = harness.state.calls.keys();
    if (id) harness.store.decide(harness.id, id, { outcome: 'approve', decidedBy: 'key_1', argumentsHash: null });
    await harness.runOn();

    expect([...tools.effects.values()]).toEqual([1]);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: reason } });
  });

  it.each([
    ['iterations', 10, { limits: { max_iterations: 1 } }, 'max_iterations'],
    ['tokens', 1_000_000, { budget: { tokens: 500_000 } }, 'budget_exceeded'],
  ] as const)('is answered by the caller with no %s left', async (_, tokens, settings, reason) => {
    const turn = using(tokens, calls({ name: 'get_weather', arguments: {} }));
    const caller_tools = [{ name: 'get_weather', description: 'The weather.' }];
    const { harness } = build([turn], { ...settings, caller_tools });
    await harness.runOn();
    expect(waits(harness.log, 'caller_tools')).toHaveLength(1);

    const result = { success: true, output: 'sun' };
    const outcome = { how: 'answered', result, durationMs: 1, answeredBy: 'key_1' } as const;
    harness.store.answerAsCaller(harness.id, new Map([...harness.state.calls.keys()].map((id) => [id, outcome])));
    await harness.runOn();

    expect(harness.types).toContain('tool.completed');
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: reason } });
  });
});

const turn = fc.array(fc.constantFrom(asks, list, malformed), { minLength: 1, maxLength: 3 });
const chosen = fc.record({
  max_iterations: fc.integer({ min: 1, max: 4 }),
  tokens: fc.constantFrom(undefined, 60_000, 150_000),
  strategy: fc.constantFrom('parallel' as const, 'sequential' as const),
  identical: fc.constantFrom(0, 2),
});
const crash = fc.record({ step: fc.nat(12), position: fc.constantFrom('before' as const, 'after' as const) });

describe('questions, whatever limit is reached and whichever worker dies', () => {
  it('each is waited for once, and no model is asked beyond the limit of iterations (I2, I4)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        chosen,
        fc.array(fc.option(crash, { nil: undefined }), { maxLength: 12 }),
        async (turns, { max_iterations, tokens, strategy, identical }, crashes) => {
          const script = [...turns.map((one) => using(40_000, calls(...one))), says('All done.')];
          const { harness } = build(script, {
            limits: { max_iterations, max_identical_calls: identical },
            processor: { tool_execution_strategy: strategy },
            ...(tokens !== undefined && { budget: { tokens } }),
          });
          const next = [...crashes];
          for (let rounds = 0; rounds < 100 && !isTerminal(status(harness)); rounds++) {
            const dies = next.shift();
            if (dies) await harness.crashAt(dies);
            else await harness.activate();
            if (status(harness) === 'waiting_input') answer(harness);
          }

          const { log } = harness;
          expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
          expect(log.filter(isTerminalFact)).toHaveLength(1);
          const asked = new Set(
            log.flatMap((fact) => (fact.type === 'tool.completed' && fact.data.name === 'ask' ? [fact.iteration] : [])),
          );
          expect(waits(log, 'ask').map(({ iteration }) => iteration)).toEqual([...asked]);
          expect(Math.max(...log.map(({ iteration }) => iteration))).toBeLessThanOrEqual(max_iterations);
        },
      ),
      { numRuns: 200 },
    );
  });
});

it.each([
  [300_000, [undefined, true]],
  [1_000, [undefined, undefined]],
])('lets the provider keep the prompt for longer once the run has waited for minutes: %i ms', async (ms, kept) => {
  const { harness, model } = build([calls(asks), says('Thanks.')]);
  harness.store.factMs = ms;

  await harness.runOn();
  answer(harness);
  await harness.runOn();

  expect(model.requests.map(({ waitsLong }) => waitsLong)).toEqual(kept);
});
