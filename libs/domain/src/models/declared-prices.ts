import { z } from 'zod';
import { type ModelFacts, findFacts } from './model-facts';
import { modelPrice, jsonText } from '@rondo/contract';
import { priceChange } from './model-price';

/** The prices of one model. The one without `from` replaces the known price; the others are added as changes. */
const pricesOfModel = z
  .array(z.union([priceChange, modelPrice]))
  .min(1)
  .refine((prices) => prices.filter((price) => !('from' in price)).length <= 1, {
    message: 'at most one price can be without "from"',
  });

/** MODEL_PRICES: lists of prices by `provider/model`. */
export const declaredPrices = jsonText.pipe(z.record(z.string().regex(/^[^/]+\/.+$/), pricesOfModel));
export type DeclaredPrices = z.infer<typeof declaredPrices>;

/** Throws if the text is invalid. */
export function readPrices(text: string | undefined): DeclaredPrices {
  if (!text) return {};
  const parsed = declaredPrices.safeParse(text);
  if (!parsed.success) throw new Error(`MODEL_PRICES cannot be understood:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** A version of a model comes before the model, because the first entry that fits a name is used. */
const longestFirst = (a: ModelFacts, b: ModelFacts): number => b.id.length - a.id.length;

/** The provider's models with the declared prices, which come before what is known. */
export function withPrices<Provider extends { name: string; models: readonly ModelFacts[] }>(
  provider: Provider,
  prices: DeclaredPrices,
): Provider {
  const priced = Object.entries(prices).flatMap(([model, declared]) => {
    const id = model.slice(provider.name.length + 1);
    if (model !== `${provider.name}/${id}`) return [];
    const facts = findFacts(provider, id) ?? { id };
    const price = declared.find((one) => !('from' in one)) ?? facts.price;
    const changes = declared.filter((one) => 'from' in one);
    return [{ ...facts, id, price, price_changes: [...(facts.price_changes ?? []), ...changes] }];
  });
  const isPriced = ({ id }: ModelFacts) => priced.some((one) => one.id === id);
  const others = provider.models.filter((model) => !isPriced(model));
  return { ...provider, models: [...priced, ...others].sort(longestFirst) };
}
