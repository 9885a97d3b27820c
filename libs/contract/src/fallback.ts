import { z } from 'zod';
import { modelName, requestedModel } from './model';

/** Why a model could not respond. */
export const modelErrorCode = z.enum([
  'rate_limit',
  'service_unavailable',
  'api_error',
  'connection_error',
  'timeout',
  'budget_exceeded',
  'authentication',
  'not_found',
  'model_not_supported',
  'content_policy_violation',
  'invalid_request',
  'context_window_exceeded',
]);
export type ModelErrorCode = z.infer<typeof modelErrorCode>;

const listCauses = <Cause extends z.ZodType>(cause: Cause) =>
  z
    .array(cause)
    .min(1)
    .max(modelErrorCode.options.length)
    .describe(
      'The errors after which this model is asked. Default: those of a model that is away, overloaded or at its rate limit.',
    );

/** `bad_request` is an older name of `invalid_request`, still accepted. */
const requestedCause = z.enum([...modelErrorCode.options, 'bad_request']);

/** A model that is asked when the one before it failed. */
export const fallback = z.strictObject({ model: modelName, on: listCauses(modelErrorCode).optional() });
export type Fallback = z.infer<typeof fallback>;

const mostFallbacks = 5;

export const fallbacks = z.array(fallback).max(mostFallbacks);

/** As a request names them: a model alone has the usual causes. */
export const requestedFallbacks = z
  .array(
    z.union([requestedModel, z.strictObject({ model: requestedModel, on: listCauses(requestedCause).optional() })]),
  )
  .max(mostFallbacks);
export type RequestedFallbacks = z.infer<typeof requestedFallbacks>;
