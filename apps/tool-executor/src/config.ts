import { loadConfig } from '@rondo/platform';
import { z } from 'zod';
import { internalHost, sandboxSettings } from './sandbox';

const mebibyte = 1024 * 1024;
const amount = z.coerce.number().int().positive();
const list = z.string().transform((text) => text.split(',').map((entry) => entry.trim()));

export const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535),
  NATS_URL: z.string().startsWith('nats://'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  METRICS_TOKEN: z.string().min(1).optional(),
  /** Holds this executor's name. Workspaces belong to the name: move the file and SANDBOX_ROOT together. */
  EXECUTOR_ID_FILE: z.string().min(1),
  /** Calls that run at the same time. */
  TOOL_CONCURRENCY: amount.max(1_000).default(32),
  /** How long running calls may go on once this process was told to end. Then they are killed. */
  TOOL_DRAIN_S: z.coerce.number().int().min(0).max(600).default(5),
  BWRAP_PATH: z.string().min(1).optional(),
  SANDBOX_ROOT: z.string().min(1),
  /** `1` runs commands without isolation. For a developer's own machine only. */
  SANDBOX_UNSAFE_HOST: z.stringbool().default(false),
  SANDBOX_MEMORY_MB: amount.optional(),
  SANDBOX_DISK_MB: amount.optional(),
  SANDBOX_PROCESSES: amount.optional(),
  SANDBOX_CPU: z.coerce.number().positive().optional(),
  SANDBOX_IDLE_S: amount.optional(),
  /** What commands may reach: nothing, or the public network through the filtering proxy. */
  SANDBOX_EGRESS: z.enum(['none', 'public']).optional(),
  /** Narrows `public` to these hosts, separated by commas; `*.example.org` for subdomains. */
  SANDBOX_ALLOWED_HOSTS: list.optional(),
  /** What commands may reach besides, though its address is private: `host:port`, separated by commas. */
  SANDBOX_INTERNAL_HOSTS: list.pipe(z.array(internalHost)).optional(),
});
export type Config = z.infer<typeof environment>;

/** What the environment leaves open, the sandbox's own defaults decide. */
export const sandboxSettingsOf = (config: Config) =>
  sandboxSettings.parse({
    root: config.SANDBOX_ROOT,
    unsafeHost: config.SANDBOX_UNSAFE_HOST,
    bubblewrapPath: config.BWRAP_PATH,
    memoryBytes: config.SANDBOX_MEMORY_MB && config.SANDBOX_MEMORY_MB * mebibyte,
    diskBytes: config.SANDBOX_DISK_MB && config.SANDBOX_DISK_MB * mebibyte,
    processes: config.SANDBOX_PROCESSES,
    cpu: config.SANDBOX_CPU,
    idleMs: config.SANDBOX_IDLE_S && config.SANDBOX_IDLE_S * 1_000,
    egress: {
      policy: config.SANDBOX_EGRESS,
      allowedHosts: config.SANDBOX_ALLOWED_HOSTS,
      internalHosts: config.SANDBOX_INTERNAL_HOSTS,
    },
  });

export const readConfig = (): Config => loadConfig(environment);
