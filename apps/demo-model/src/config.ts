import { z } from 'zod';

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4010),
  /** The pause between two pieces of a streamed reply whose script names none. */
  DEMO_PACE_MS: z.coerce.number().int().min(0).max(60_000).default(0),
});

export const config = environment.parse(process.env);
