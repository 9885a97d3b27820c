import { effectiveSettings } from '../profiles/effective-settings';
import type { SettingsRequest } from '@rondo/contract';
import { contextBudgetOf, summaryTokens, tailTokens } from './context-budget';
import { budgetOfModel } from './model-budgets';

const allowance = (context: SettingsRequest['context'], frame = 5_000, refusedTokens?: number) => {
  const effective = effectiveSettings({ model: 'anthropic/claude-sonnet-4-5', context }, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the settings are valid');
  const { settings } = effective;
  const made = contextBudgetOf({ settings, budgetOf: budgetOfModel, frame, refusedTokens });
  return { ...made, tail: tailTokens(made), summary: summaryTokens(made, settings) };
};

it('folds from the threshold on, or from the budget where that is less', () => {
  expect(allowance({}).limit).toBe(120_000);
  expect(allowance({ input_budget_tokens: 30_000 })).toMatchObject({ limit: 30_000, budget: 30_000 });
});

it('leaves the conversation its share where the prompt alone is over the threshold', () => {
  const { limit, frame, reserve } = allowance({ token_threshold: 2_000 }, 9_000);
  expect(limit).toBe(frame + reserve + 500);
});

it('sends less than what a provider refused', () => {
  expect(allowance({}, 5_000, 50_000).budget).toBe(45_000);
});

it('gives the tail and the summary a quarter of the room at most', () => {
  const { tail, summary } = allowance({ input_budget_tokens: 30_000 });
  expect(tail).toBe(5_000);
  expect(summary).toBe(5_000);
  expect(allowance({}).summary).toBe(10_000);
});
