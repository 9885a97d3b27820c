import type { Fallback, RequestedFallbacks, RunSettings, SettingsRequest } from '@rondo/contract';
import type { ModelFallbacks } from '../models/fallbacks';

export interface FallbackChoice {
  /** The chains of the deployment. */
  readonly chains: ModelFallbacks | undefined;
  readonly fullName: (model: string) => string;
  readonly hasToolCalls: (model: string) => boolean;
  readonly hasPrice: (model: string) => boolean;
}

/**
 * The chain of the request, else of its agent, else of the deployment for this model. What cannot stand in is refused
 * where a request names it, and left out of a chain of the deployment, which is made for many runs.
 */
export function fallbacksOf(
  { fallbacks: requested, agent }: SettingsRequest,
  settings: RunSettings,
  choice: FallbackChoice,
): { settings: Pick<RunSettings, 'fallbacks'>; problems: { field: string; message: string }[] } {
  const field = requested ? 'fallbacks' : 'agent.fallbacks';
  const named = requested ?? agent?.fallbacks;
  const chain = (named ?? choice.chains?.get(settings.model) ?? []).map((one) => fallbackOf(one, choice));
  const lacks = chain.map((one, index) => lackOf(one, { before: chain.slice(0, index), settings, choice }));
  const problems = lacks.flatMap((message, index) =>
    named && message !== undefined ? [{ field: `${field}.${index}`, message }] : [],
  );
  const usable = chain.filter((_, index) => lacks[index] === undefined);
  return { settings: usable.length > 0 ? { fallbacks: usable } : {}, problems };
}

const fallbackOf = (one: RequestedFallbacks[number], { fullName }: FallbackChoice): Fallback =>
  typeof one === 'string' ? { model: fullName(one) } : { ...one, model: fullName(one.model) };

interface Surroundings {
  readonly before: readonly Fallback[];
  readonly settings: RunSettings;
  readonly choice: FallbackChoice;
}

function lackOf({ model }: Fallback, { before, settings, choice }: Surroundings): string | undefined {
  if (model === settings.model) return 'is the model that it stands in for';
  if (before.some((one) => one.model === model)) return 'is named twice';
  if (settings.processor.dialect === 'native' && !choice.hasToolCalls(model))
    return `${model} has no tool calls, and the dialect of the run is native`;
  return settings.budget.usd !== undefined && !choice.hasPrice(model)
    ? `the price of ${model} is not known, so budget.usd could not be enforced`
    : undefined;
}
