import { loadConfig } from '@rondo/platform';
import { z } from 'zod';

export const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535),
  DATABASE_URL: z.string().min(1),
  DATABASE_POOL_SIZE: z.coerce.number().int().positive().default(4),
  REDIS_URL: z.string().min(1),
  NATS_URL: z.string().startsWith('nats://'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  METRICS_TOKEN: z.string().min(1).optional(),
});
export type Config = z.infer<typeof environment>;

export const readConfig = (): Config => loadConfig(environment);
