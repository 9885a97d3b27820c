import type { SettingsRequest } from '@rondo/contract';
import { effectiveSettings } from '../profiles/effective-settings';
import { toContextBudget, summaryTokens, tailTokens } from './context-budget';
import { budgetOfModel } from '../models/model-budgets';

const budgetFor = (context: SettingsRequest['context'], frame = 5_000, refusedTokens?: number) => {
  const effective = effectiveSettings({ model: 'anthropic/claude-sonnet-4-5', context }, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the settings are valid');
  const { settings } = effective;
  const budget = toContextBudget({ settings, resolveBudget: budgetOfModel, frame, refusedTokens });
  return { ...budget, tail: tailTokens(budget), summary: summaryTokens(budget, settings) };
};

it('compacts from the threshold on, or from the model’s budget where that is less', () => {
  expect(budgetFor({}).limit).toBe(120_000);
  expect(budgetFor({ input_budget_tokens: 30_000 })).toMatchObject({ limit: 30_000, maximum: 30_000 });
});

it('leaves the conversation its share where the prompt alone is over the threshold', () => {
  const { limit, frame, reserve } = budgetFor({ token_threshold: 2_000 }, 9_000);
  expect(limit).toBe(frame + reserve + 500);
});

it('sends less than what a provider refused', () => {
  expect(budgetFor({}, 5_000, 50_000).maximum).toBe(45_000);
});

it('gives the tail and the summary at most a quarter of the space each', () => {
  const { tail, summary } = budgetFor({ input_budget_tokens: 30_000 });
  expect(tail).toBe(5_000);
  expect(summary).toBe(5_000);
  expect(budgetFor({}).summary).toBe(10_000);
});
