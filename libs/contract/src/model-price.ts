import { z } from 'zod';

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
