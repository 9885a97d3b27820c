import fc from 'fast-check';
import type { SettingsRequest } from '@rondo/contract';
import type { ModelChunk } from '../models/model';
import { LedgeredTools, RunHarness, ScriptedModel, type Turn, calls, says } from '../testing';
import type { HarnessParts } from '../testing/run-harness';

const price = { cached_tokens: 0, output_tokens: 0, estimated: false };

/** The same turn with this number of input tokens. */
const withUsage = (turn: Turn, tokens: number): Turn =>
  turn.map((chunk): ModelChunk =>
    chunk.type === 'end'
      ? { ...chunk, usage: { ...price, input_tokens: tokens, cost_usd: tokens / 1_000_000 } }
      : chunk,
  );

const cutOff = (text: string): Turn =>
  says(text).map((chunk) =>
    chunk.type === 'end' && chunk.how === 'finished' ? { ...chunk, finishReason: 'length' } : chunk,
  );

const breaks: Turn = [
  { type: 'text', text: 'Well' },
  {
    type: 'end',
    how: 'broken',
    error: { code: 'connection_error', message: 'It broke.' },
    usage: { ...price, input_tokens: 0, cost_usd: 0 },
  },
];
const looks = calls({ name: 'list_files', arguments: { path: '.' } });
const exceeded = { type: 'run.completed', data: { finish_reason: 'budget_exceeded' } };

async function harnessAfter(turns: readonly Turn[], settings: SettingsRequest, parts: Partial<HarnessParts> = {}) {
  const model = new ScriptedModel(turns);
  const harness = new RunHarness({ ...parts, model, settings });
  await harness.runOn();
  return { harness, model };
}

const budget = { tokens: 40_000 };

/** An account that has spent its budget after this many checks. */
function accountSpentAfter(times: number) {
  let checks = 0;
  return { accountIsSpent: () => Promise.resolve((checks += 1) > times) };
}

describe('a budget that is spent', () => {
  it.each<[string, readonly Turn[], SettingsRequest]>([
    ['continue a reply', [withUsage(cutOff('Once upon'), 50_000), says(' a time.')], {}],
    ['repair a reply', [withUsage(says('No JSON.'), 50_000), says('Still none.')], { processor: { dialect: 'json' } }],
    ['repeat a lost reply', [withUsage(breaks, 50_000), says('Well.')], {}],
    ['read the result of a tool', [withUsage(looks, 50_000), says('Seen.')], {}],
  ])('makes no model call to %s', async (_, turns, settings) => {
    const { harness, model } = await harnessAfter(turns, { ...settings, budget });

    expect(model.requests).toHaveLength(1);
    expect(harness.log.at(-1)).toMatchObject(exceeded);
  });

  it('keeps the part of a reply that was paid for', async () => {
    const { harness } = await harnessAfter([withUsage(cutOff('Once upon'), 50_000), says(' a time.')], { budget });

    expect(JSON.stringify(harness.state.conversation)).toContain('Once upon');
    expect(harness.log.filter(({ type }) => type === 'usage.recorded')).toHaveLength(1);
  });

  it('requests no summary either', async () => {
    const tools = new LedgeredTools(() => 'word '.repeat(5_000));
    const context = { token_threshold: 2_000 };
    const turns = [looks, says('Seen.')];
    const rich = await harnessAfter(turns, { context }, { tools, extra: accountSpentAfter(Infinity) });
    const poor = await harnessAfter(turns, { context }, { tools, extra: accountSpentAfter(2) });

    expect(rich.harness.types).toEqual(expect.arrayContaining([expect.stringMatching(/^context/)]));
    expect(poor.harness.types).not.toEqual(expect.arrayContaining([expect.stringMatching(/^context/)]));
    expect(poor.harness.log.at(-1)).toMatchObject(exceeded);
  });
});

describe('a budget that the next request alone would exceed', () => {
  const tools = new LedgeredTools(() => 'word '.repeat(50_000));

  it('makes no such request: tokens', async () => {
    const { harness, model } = await harnessAfter([looks, says('Seen.')], { budget: { tokens: 15_000 } }, { tools });

    expect(model.requests).toHaveLength(1);
    expect(harness.log.at(-1)).toMatchObject(exceeded);
  });

  it('makes no such request: money, when the price is known', async () => {
    const settings = { budget: { usd: 0.015 } };
    const extra = { leastInputPrice: () => 1 / 1_000_000 };
    const known = await harnessAfter([looks, says('Seen.')], settings, { tools, extra });
    const unknown = await harnessAfter([looks, says('Seen.')], settings, { tools });

    expect(known.harness.log.at(-1)).toMatchObject(exceeded);
    expect([known.model.requests.length, unknown.model.requests.length]).toEqual([1, 2]);
  });
});

it('makes no model call after the account has spent its budget', async () => {
  const { harness, model } = await harnessAfter([looks, says('Seen.')], {}, { extra: accountSpentAfter(2) });

  expect(model.requests).toHaveLength(1);
  expect(harness.log.at(-1)).toMatchObject(exceeded);
});

describe('attack: model and tool output', () => {
  it('a model that breaks off, writes no JSON, is cut off and calls tools to be called beyond the budget', async () => {
    const anyTurn = fc.tuple(fc.constantFrom(looks, breaks, cutOff('Once'), says('No JSON.')), fc.nat(20_000));

    await fc.assert(
      fc.asyncProperty(
        fc.array(anyTurn, { maxLength: 8 }),
        fc.constantFrom('native', 'json'),
        async (turns, dialect) => {
          const script = turns.map(([turn, tokens]) => withUsage(turn, tokens));
          const settings: SettingsRequest = { budget, processor: { dialect: dialect } };
          const { harness } = await harnessAfter(script, settings);

          const recorded = harness.log.flatMap((fact) =>
            fact.type === 'usage.recorded' ? [fact.data.input_tokens] : [],
          );
          const before = recorded.slice(0, -1).reduce((sum, tokens) => sum + tokens, 0);
          expect(before).toBeLessThan(budget.tokens);
          expect(harness.state.ended).toBe(true);
        },
      ),
    );
  });
});
