import type { RunSettings } from '@rondo/contract';
import { type ModelProviders, type SettingsProblem, findPrice, whyNotConfigured } from '@rondo/domain';

/** Refuses models that the workers have no provider for, and a budget in money for a model without a known price. */
export function validateModel(settings: RunSettings, providers: ModelProviders): SettingsProblem[] {
  const { model, fallbacks = [], context, budget } = settings;
  const absent = [
    { field: 'model', name: model },
    ...fallbacks.map(({ model: name }, index) => ({ field: `fallbacks.${index}`, name })),
    { field: 'context.summary_model', name: context.summary_model },
  ].flatMap(({ field, name }) => {
    const message = name === undefined ? undefined : whyNotConfigured(name, providers);
    return message === undefined ? [] : [{ field, message }];
  });
  const unpriced = [model, context.summary_model ?? model].find(
    (name) => findPrice(name, providers, Date.now()) === undefined,
  );
  if (absent.length > 0 || budget.usd === undefined || unpriced === undefined) return absent;
  return [{ field: 'budget.usd', message: noPrice(unpriced) }];
}

const noPrice = (model: string): string =>
  `the price of ${model} is not known, so the budget could not be enforced: declare it in MODEL_PRICES, or set budget.tokens`;
