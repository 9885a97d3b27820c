import type { ModelFacts } from './model-facts';
import { readProviders } from './provider-settings';
import { effectiveSettings } from '../profiles/effective-settings';
import { budgetOfModel, toBudgets, toInputBudget } from './model-budgets';

it.each([
  ['anthropic/claude-sonnet-4-5', 136_000],
  ['openai/gpt-5.1', 100_000],
  ['google/gemini-3-pro', 700_000],
  ['deepseek/deepseek-chat', 100_000],
  ['local/llama', 31_000],
])('has a budget for %s', (model, budget) => {
  expect(budgetOfModel(model)).toBe(budget);
});

it.each([
  ['anthropic/claude-opus-5-5', 872_000],
  ['anthropic/claude-sonnet-4-5-20250929', 136_000],
  ['openai/gpt-5.1', 272_000],
  ['openai/gpt-4.1', 1_014_808],
  ['elsewhere/gpt-4.1', 100_000],
  ['demo/coder', 100_000],
])('uses the window that is known of %s', (model, budget) => {
  expect(toBudgets({ providers: [] })(model)).toBe(budget);
});

describe('a budget that the operator declares', () => {
  const declaring = (...models: ModelFacts[]) =>
    toBudgets(
      readProviders({
        OPENAI_API_KEY: 'key',
        MODEL_PROVIDERS: JSON.stringify([{ name: 'local', base_url: 'http://127.0.0.1:1/v1', models }]),
      }),
    );

  it('overrides the table: the window less the space for the reply', () => {
    const resolveBudget = declaring(
      { id: 'llama3', context_window: 128_000, max_output_tokens: 8_000 },
      { id: 'claude-like', context_window: 8_192, max_output_tokens: 2_048 },
    );

    expect(resolveBudget('local/llama3')).toBe(120_000);
    expect(resolveBudget('local/llama3-2025-01-01')).toBe(120_000);
    expect(resolveBudget('local/claude-like')).toBe(6_144);
  });

  it('leaves a quarter to a reply of undeclared length, and at most half to any', () => {
    const resolveBudget = declaring(
      { id: 'plain', context_window: 128_000 },
      { id: 'all', context_window: 128_000, max_output_tokens: 128_000 },
    );

    expect(resolveBudget('local/plain')).toBe(96_000);
    expect(resolveBudget('local/all')).toBe(64_000);
  });

  it('applies where it names a window, and to its own models only', () => {
    const resolveBudget = declaring(
      { id: 'llama3', max_output_tokens: 8_000 },
      { id: 'gpt-5', context_window: 50_000 },
    );

    expect(resolveBudget('local/llama3')).toBe(31_000);
    expect(resolveBudget('local/other')).toBe(31_000);
    expect(resolveBudget('openai/gpt-5')).toBe(272_000);
    expect(resolveBudget('unknown')).toBe(31_000);
  });

  it('is overridden by the setting of a run', () => {
    const resolveBudget = declaring({ id: 'llama3', context_window: 128_000 });
    const settings = (context: object) => {
      const effective = effectiveSettings({ model: 'local/llama3', context }, { model: 'demo/coder' });
      if ('problems' in effective) throw new Error('the settings are valid');
      return effective.settings;
    };

    expect(toInputBudget(settings({}), resolveBudget)).toBe(96_000);
    expect(toInputBudget(settings({ input_budget_tokens: 20_000 }), resolveBudget)).toBe(20_000);
  });
});
