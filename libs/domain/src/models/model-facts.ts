import { z } from 'zod';
import { modelPrice } from '@rondo/contract';
import { priceChange } from './model-price';

/** Facts about a model; `id` is its name without the provider. */
export const modelFacts = z.strictObject({
  id: z.string().min(1),
  context_window: z.number().int().positive().optional(),
  max_output_tokens: z.number().int().positive().optional(),
  price: modelPrice.optional(),
  /** Later prices; each is valid from its date until the next one's. */
  price_changes: z.array(priceChange).optional(),
  /** Whether its API has native tool calls. */
  tool_calls: z.boolean().optional(),
  /** Whether it prints its native calls as text, because its server does not read the notation of its template. */
  printed_calls: z.boolean().optional(),
});
export type ModelFacts = z.infer<typeof modelFacts>;

const million = 1_000_000;
const thousand = 1_000;

const claude = (
  id: string,
  [input, output, cache_read]: [number, number, number],
  [context_window, max_output_tokens]: [number, number],
): ModelFacts => ({
  id,
  context_window,
  max_output_tokens,
  price: { input, output, cache_read, cache_write: input * 1.25 },
});

const gpt = (
  id: string,
  [input, output, cache_read]: [number, number, number],
  [context_window, max_output_tokens]: [number, number],
): ModelFacts => ({ id, context_window, max_output_tokens, price: { input, output, cache_read } });

/** A sixth-generation GPT: cache writes, and requests of more than 272,000 tokens, cost extra. */
const gpt6 = (id: string, [input, output, cache_read]: [number, number, number]): ModelFacts => ({
  id,
  context_window: 1_050_000,
  max_output_tokens: 128 * thousand,
  price: {
    input,
    output,
    cache_read,
    cache_write: input * 1.25,
    long_prompt: { above_tokens: 272 * thousand, input_factor: 2, output_factor: 1.5 },
  },
});

/** List prices as published in November 2026: input, output, cache read; then context window and longest output. */
const anthropic: readonly ModelFacts[] = [
  claude('claude-fable-5-1', [10, 50, 0.25], [million, 128 * thousand]),
  claude('claude-fable-5', [10, 50, 1], [million, 128 * thousand]),
  claude('claude-opus-5-5', [4, 20, 0.2], [million, 128 * thousand]),
  claude('claude-opus-5', [5, 25, 0.5], [million, 128 * thousand]),
  claude('claude-opus-4-8', [5, 25, 0.5], [million, 128 * thousand]),
  claude('claude-opus-4-7', [5, 25, 0.5], [million, 128 * thousand]),
  claude('claude-opus-4-6', [5, 25, 0.5], [million, 128 * thousand]),
  claude('claude-opus-4-5', [5, 25, 0.5], [200 * thousand, 64 * thousand]),
  claude('claude-sonnet-5-5', [2, 10, 0.1], [million, 128 * thousand]),
  claude('claude-sonnet-5', [2, 10, 0.2], [million, 128 * thousand]),
  {
    id: 'claude-haiku-5-5',
    context_window: million,
    max_output_tokens: 128 * thousand,
    price: {
      input: 0.1,
      output: 0.5,
      cache_read: 0.01,
      cache_write: 0.125,
      long_prompt: { above_tokens: 100 * thousand, input_factor: 5, output_factor: 5 },
    },
  },
  claude('claude-sonnet-4-6', [3, 15, 0.3], [million, 128 * thousand]),
  claude('claude-sonnet-4-5', [3, 15, 0.3], [200 * thousand, 64 * thousand]),
  claude('claude-haiku-4-5', [1, 5, 0.1], [200 * thousand, 64 * thousand]),
];

const openai: readonly ModelFacts[] = [
  gpt6('gpt-6.1-sol', [2, 10, 0.1]),
  gpt6('gpt-6.1-terra', [1, 5, 0.05]),
  gpt6('gpt-6-sol', [2, 10, 0.2]),
  gpt6('gpt-6-luna', [0.1, 0.5, 0.01]),
  gpt('gpt-5.1', [1.25, 10, 0.125], [400 * thousand, 128 * thousand]),
  gpt('gpt-5', [1.25, 10, 0.125], [400 * thousand, 128 * thousand]),
  gpt('gpt-5-mini', [0.25, 2, 0.025], [400 * thousand, 128 * thousand]),
  gpt('gpt-4.1', [2, 8, 0.5], [1_047_576, 32_768]),
  gpt('gpt-4.1-mini', [0.4, 1.6, 0.1], [1_047_576, 32_768]),
  gpt('gpt-4o', [2.5, 10, 1.25], [128 * thousand, 16_384]),
  gpt('gpt-4o-mini', [0.15, 0.6, 0.075], [128 * thousand, 16_384]),
];

/** The demo server has a model for every name of a script; all are free. */
const demoProviders = new Set(['demo', 'demo-anthropic']);
const demo: readonly ModelFacts[] = ['plain', 'coder', 'ask', 'parallel', 'thinking', 'long'].map(demoModel);

function demoModel(id: string): ModelFacts {
  return { id, context_window: 128 * thousand, max_output_tokens: 32 * thousand, price: { input: 0, output: 0 } };
}

/** The models that are known for a provider without configuration. */
export const knownModels: ReadonlyMap<string, readonly ModelFacts[]> = new Map([
  ['anthropic', anthropic],
  ['openai', openai],
  ...[...demoProviders].map((name) => [name, demo] as const),
]);

/** The suffix that distinguishes the versions of a model. */
const version = /^-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** Takes a version of a known model as that model; any other longer name is another model. */
const factsIn = (models: readonly ModelFacts[], id: string): ModelFacts | undefined =>
  models.find((model) => id === model.id || (id.startsWith(model.id) && version.test(id.slice(model.id.length))));

/** The facts that the configuration of a provider declares about `id`. */
export const findDeclaredFacts = ({ models }: { models: readonly ModelFacts[] }, id: string): ModelFacts | undefined =>
  factsIn(models, id);

/** What is known about a model of the makers themselves, whatever is configured. */
export const findKnownFacts = (provider: string, id: string): ModelFacts | undefined =>
  demoProviders.has(provider) ? undefined : factsIn(knownModels.get(provider) ?? [], id);

/** The facts about `id` at a provider. Its configuration overrides the list above. */
export function findFacts(
  provider: { name: string; models: readonly ModelFacts[] },
  id: string,
): ModelFacts | undefined {
  const found = findDeclaredFacts(provider, id) ?? factsIn(knownModels.get(provider.name) ?? [], id);
  return found ?? (demoProviders.has(provider.name) ? demoModel(id) : undefined);
}
