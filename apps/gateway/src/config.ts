import { type ModelProviders, readProviders } from '@rondo/domain';
import { loadConfig } from '@rondo/platform';
import { z } from 'zod';

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  METRICS_TOKEN: z.string().min(1).optional(),
  DATABASE_URL: z.string().min(1),
  DATABASE_POOL_SIZE: z.coerce.number().int().positive().default(10),
  REDIS_URL: z.string().min(1),
  NATS_URL: z.string().min(1),
  /** The key of the account that runs this installation. */
  RONDO_ADMIN_KEY: z.string().min(16),
  DEFAULT_MODEL: z.string().default('demo/coder'),
  DEMO_MODEL_URL: z.string().optional(),
  /** Further model servers, as the workers have them. */
  MODEL_PROVIDERS: z.string().optional(),
  /** The names of the key variables that the workers have, with commas. The keys are none of this service's business. */
  MODEL_KEYS_PRESENT: z.string().default(''),
  BODY_LIMIT_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(10 * 1024 * 1024),
  /** Requests per second and API key; twice as many may come at once. */
  RATE_LIMIT_PER_SECOND: z.coerce.number().positive().default(500),
  /** How long a client that watches may leave what it was sent unread. */
  STALL_LIMIT_S: z.coerce.number().positive().default(30),
});

export type GatewayConfig = z.infer<typeof environment>;

export const readConfig = (): GatewayConfig => loadConfig(environment);

/** Whom the workers can ask for models. */
export function modelProvidersOf({
  DEMO_MODEL_URL,
  MODEL_PROVIDERS,
  MODEL_KEYS_PRESENT,
}: GatewayConfig): ModelProviders {
  const keys = MODEL_KEYS_PRESENT.split(',').map((name) => [name.trim(), 'present'] as const);
  return readProviders({ ...Object.fromEntries(keys), DEMO_MODEL_URL, MODEL_PROVIDERS });
}
