import { hostname } from 'node:os';
import { readProviders } from '@rondo/domain';
import { loadConfig } from '@rondo/platform';
import { z } from 'zod';

const milliseconds = z.coerce.number().int().positive();

export const config = loadConfig(
  z.object({
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535),
    LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    METRICS_TOKEN: z.string().optional(),
    DATABASE_URL: z.string().min(1),
    DATABASE_POOL_SIZE: z.coerce.number().int().positive().default(8),
    REDIS_URL: z.string().min(1),
    NATS_URL: z.string().min(1),
    /**
     * The beginning of the name under which this process holds its leases. The rest makes it unique, also among those
     * that were here before: nobody may take a successor for its predecessor, which is dead.
     */
    WORKER_ID: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .default(
        hostname()
          .replaceAll(/[^A-Za-z0-9_-]/g, '-')
          .slice(0, 40),
      )
      .transform((name) => `${name}-${process.pid}-${Date.now().toString(36)}`),
    RUN_CONCURRENCY: z.coerce.number().int().positive().default(100),
    LEASE_MS: milliseconds.default(15_000),
    HEARTBEAT_MS: milliseconds.default(4_000),
    REAP_MS: milliseconds.default(3_000),
    /** For so long a run waits for a summarizer to take it; then it goes on without a summary. */
    COMPACTION_PATIENCE_MS: milliseconds.default(60_000),
    /** For so long this process may do nothing that it should do again and again; then it does not count as alive. */
    LIVENESS_MS: milliseconds.default(30_000),
    /** Facts of runs that ended so many days ago are deleted; never unless given. */
    RETENTION_DAYS: z.coerce.number().positive().optional(),
    RETENTION_EVERY_MS: milliseconds.default(60_000),
    DELTA_FRAME_MS: milliseconds.default(15),
    DRAIN_MS: milliseconds.default(5_000),
  }),
);
/** Who can be asked for models: DEMO_MODEL_URL, OPENAI_*, ANTHROPIC_*, MODEL_PROVIDERS. */
export const modelProviders = readProviders(process.env);
