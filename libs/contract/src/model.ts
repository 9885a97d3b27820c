import { z } from 'zod';
import { textLimits } from './text-limits';

/** `provider/model`; the part after the first slash goes to the provider unchanged. */
export const modelName = z
  .string()
  .max(textLimits.modelName)
  .regex(/^[a-z0-9_-]+\/.+$/, 'must look like provider/model');

/** A short name that a deployment gives to a model. */
export const modelAlias = z
  .string()
  .max(textLimits.modelName)
  .regex(/^[A-Za-z0-9][\w.-]*$/, 'must be letters, digits, "-", "_" and "."');

/** A model as a request names it. An alias becomes the full name in the settings of the run. */
export const requestedModel = z
  .string()
  .max(textLimits.modelName)
  .regex(/^(?:[a-z0-9_-]+\/.+|[A-Za-z0-9][\w.-]*)$/, 'must look like provider/model, or be an alias')
  .describe('`provider/model`, or an alias of this deployment (`GET /v1/models`).');

/** USD per million tokens. Without a cache price, the input price applies. */
export const modelPrice = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cache_read: z.number().nonnegative().optional(),
  cache_write: z.number().nonnegative().optional(),
  /** Some models charge more for every token of a request with a long prompt. */
  long_prompt: z
    .strictObject({ above_tokens: z.number().int().positive(), input_factor: z.number(), output_factor: z.number() })
    .optional(),
});
export type ModelPrice = z.infer<typeof modelPrice>;
