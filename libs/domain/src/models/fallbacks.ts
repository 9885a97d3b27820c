import {
  type Fallback,
  type ModelErrorCode,
  modelErrorCode,
  modelName,
  requestedFallbacks,
  jsonText,
} from '@rondo/contract';
import { z } from 'zod';

/** The chains of a deployment by the full name of the model that they stand in for. */
export type ModelFallbacks = ReadonlyMap<string, z.infer<typeof requestedFallbacks>>;

export const declaredFallbacks = jsonText.pipe(z.record(modelName, requestedFallbacks));

/** Reads MODEL_FALLBACKS. Throws if the text is invalid. */
export function readFallbacks(text: string | undefined): ModelFallbacks {
  if (!text) return new Map();
  const parsed = declaredFallbacks.safeParse(text);
  if (!parsed.success) throw new Error(`MODEL_FALLBACKS cannot be understood:\n${z.prettifyError(parsed.error)}`);
  return new Map(Object.entries(parsed.data));
}

/** The errors of a model that is away or overloaded; those of a request that is wrong would be the same elsewhere. */
const usualCauses: readonly ModelErrorCode[] = [
  'rate_limit',
  'service_unavailable',
  'api_error',
  'connection_error',
  'timeout',
];

/** The first model after `model` in the chain that stands in for this error. */
export function fallbackAfter(chain: readonly Fallback[], model: string, code: string): string | undefined {
  const cause = modelErrorCode.safeParse(code).data;
  if (!cause) return undefined;
  const place = chain.findIndex((one) => one.model === model); // -1: the run's own model
  return chain.slice(place + 1).find(({ on = usualCauses }) => on.includes(cause))?.model;
}
