import { hostname } from 'node:os';
import { modelName, readProviders } from '@rondo/domain';
import { loadConfig } from '@rondo/platform';
import { z } from 'zod';

const milliseconds = z.coerce.number().int().positive();

export const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535),
  DATABASE_URL: z.string().min(1),
  DATABASE_POOL_SIZE: z.coerce.number().int().positive().default(4),
  REDIS_URL: z.string().min(1),
  NATS_URL: z.string().startsWith('nats://'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  METRICS_TOKEN: z.string().min(1).optional(),
  /**
   * The beginning of the name under which this process holds its leases. The rest makes it unique, also among those that
   * were here before: nobody may take a successor for its predecessor, which is dead.
   */
  SUMMARIZER_ID: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .default(
      () =>
        `scribe-${hostname()
          .replaceAll(/[^A-Za-z0-9_-]/g, '-')
          .slice(0, 30)}`,
    )
    .transform((name) => `${name}-${process.pid}-${Date.now().toString(36)}`),
  /** Writes the summaries of runs that name no model for it; a run's own model does otherwise. */
  SUMMARY_MODEL: modelName.optional(),
  /** Summaries that are written at the same time. */
  COMPACTION_CONCURRENCY: z.coerce.number().int().positive().default(16),
  LEASE_MS: milliseconds.default(15_000),
  HEARTBEAT_MS: milliseconds.default(4_000),
});
export type Config = z.infer<typeof environment>;

export const readConfig = (): Config => loadConfig(environment);

/** Who can be asked for models: DEMO_MODEL_URL, OPENAI_*, ANTHROPIC_*, MODEL_PROVIDERS. */
export const readModelProviders = () => readProviders(process.env);
