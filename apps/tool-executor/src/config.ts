import { readFileSync } from 'node:fs';
import { type SlotLimits, executorId, withNatsPassword } from '@rondo/messaging';
import {
  commaSeparated,
  count,
  guardedProxyVariables,
  previewUrl,
  loadConfig,
  natsVariables,
  reachVariables,
  serviceVariables,
  tracingVariables,
} from '@rondo/platform';
import { z } from 'zod';
import { checkProvider, toProviderSettings, providerVariables } from './sandboxes/provider/provider-variables';
import { checkSnapshots, snapshotVariables } from './sandboxes/snapshots/snapshot-variables';
import { sandboxSettings } from './sandboxes';
import { serviceVariablesOfTools } from './services/service-settings';

const mebibyte = 1024 * 1024;
/** Defaults of the sandbox settings, shown in the documentation of variables. */
const defaults = sandboxSettings.parse({ root: '/' });

const variables = z.object({
  ...serviceVariables,
  ...natsVariables,
  NATS_PASSWORD_FILE: z.string().optional().meta({
    description: 'The file with the password of the user in `NATS_URL`, where the URL has none.',
    example: '/run/nats/password',
    otherwise: 'the one in `NATS_URL`',
  }),
  ...tracingVariables,
  ...guardedProxyVariables,
  NODE_ENV: z.string().optional().meta({
    description: '`production` switches `SANDBOX_REQUIRE_LIMITS` on.',
    otherwise: 'not `production`',
  }),
  EXECUTOR_ID_FILE: z.string().meta({
    description:
      'The file with this executor’s id. Workspaces belong to the id: move the file and SANDBOX_ROOT together.',
    example: '/var/lib/rondo/executor-id',
  }),
  EXECUTOR_ID: executorId.optional().meta({
    description:
      'The id that the file must contain. It is also the executor’s user on NATS, where a server may restrict each executor to its own subjects.',
    example: 'tool-executor-2',
    otherwise: 'the one in the file, generated at the first start',
  }),
  TOOL_CONCURRENCY: count.max(1_000).default(32).describe('Calls that run at the same time.'),
  TOOL_CONCURRENCY_PER_ACCOUNT: count.optional().meta({
    description: 'Calls of one account that run at the same time; waiting accounts take turns.',
    otherwise: 'half of `TOOL_CONCURRENCY`',
  }),
  TOOL_CONCURRENCY_PER_THREAD: count.optional().meta({
    description: 'Calls of one thread that run at the same time.',
    otherwise: 'a quarter of `TOOL_CONCURRENCY`',
  }),
  TOOL_DRAIN_S: z.coerce.number().int().min(0).max(600).default(5).meta({
    description: 'How long running calls may continue at shutdown. Then they are killed.',
    unit: 's',
  }),
  PREVIEW_URL: previewUrl,
  SITES_MB: count.max(10_240).default(64).meta({
    description: 'All static sites that a thread has published, together.',
    unit: 'MiB',
  }),
  ...providerVariables,
  BWRAP_PATH: z.string().optional().meta({
    description: 'The program bubblewrap.',
    otherwise: '`bwrap` is searched in `PATH`',
  }),
  BROWSER_PATH: z.string().startsWith('/').optional().meta({
    description:
      'The program Chromium, or its headless shell. Outside of /usr, its directory is shown to sandboxes, so nothing else may be in it.',
    example: '/usr/lib/chromium/chromium-headless-shell',
    otherwise: 'there is no browser',
  }),
  SANDBOX_ROOT: z.string().meta({
    description: 'Workspaces live here, one directory per thread.',
    example: '/var/lib/rondo/sandboxes',
  }),
  SANDBOX_WARM: z.coerce.number().int().min(0).max(64).default(0).meta({
    description:
      'Sandboxes that are booted before a thread needs one, so that its first command starts earlier. They count towards `SANDBOX_MAX` and give way to those of threads. See docs/sandboxes.md.',
  }),
  SANDBOX_MAX: count.default(128).meta({
    description:
      'Sandboxes that are awake at the same time. When another one is needed, the one unused for longest is put to sleep; its files stay.',
  }),
  SANDBOX_UNSAFE_HOST: z.stringbool().prefault('0').meta({
    description: '`1` runs commands **without isolation**. For a developer’s own machine only.',
  }),
  SANDBOX_MEMORY_MB: count.optional().meta({
    description: 'The memory of a sandbox.',
    unit: 'MiB',
    default: defaults.memoryBytes / mebibyte,
  }),
  SANDBOX_DISK_MB: count.optional().meta({
    description:
      'The whole workspace of a thread. Where the limit is only watched (`SANDBOX_DISK_HARD`), it can be exceeded for a moment; then the sandbox stops until files are deleted.',
    unit: 'MiB',
    default: defaults.diskBytes / mebibyte,
  }),
  SANDBOX_DISK_HARD: z.enum(['auto', 'off', 'required']).optional().meta({
    description:
      'Makes each new workspace a disk image whose size the kernel enforces; needs root, loop devices and e2fsprogs. `auto`: where possible. `required`: without it no tool runs. Existing workspaces stay as they are.',
    default: defaults.hardDisk,
  }),
  SANDBOX_DISK_FREE_MB: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_485_760)
    .optional()
    .meta({
      description:
        'The part of the disk with SANDBOX_ROOT that stays free. Below it, the executor takes no threads, commands and writes are refused, and reading and deleting files go on. `0`: no floor.',
      unit: 'MiB',
      default: defaults.freeDiskBytes / mebibyte,
    }),
  SANDBOX_REWIND_MB: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_048_576)
    .optional()
    .meta({
      description:
        'What the earlier states of a workspace may take, so that forks, edits and retries can have the files as they were then (docs/rewind.md). They are kept beside it, after each call that may change files; the oldest give way to newer ones. `0`: none are kept. Daytona keeps none.',
      unit: 'MiB',
      default: defaults.rewindBytes / mebibyte,
    }),
  SANDBOX_REWIND_ACCOUNT_MB: count.optional().meta({
    description:
      'What the earlier states of all workspaces of an account may take on this executor. The oldest of them give way to newer ones.',
    unit: 'MiB',
    otherwise: 'four times `SANDBOX_REWIND_MB`',
  }),
  SANDBOX_FILES: count.optional().meta({
    description: 'Files and directories of a sandbox, limited like its size; those in its `/tmp` are watched.',
    default: defaults.files,
  }),
  SANDBOX_REQUIRE_LIMITS: z.stringbool().optional().meta({
    description:
      'Refuse to run tools when no control groups limit the memory and the processes of sandboxes. `npm start` and Compose switch it off, with a warning.',
    otherwise: 'on where `NODE_ENV` is `production`',
  }),
  SANDBOX_PROCESSES: count.optional().meta({
    description: 'Processes and threads of a sandbox.',
    default: defaults.processes,
  }),
  SANDBOX_CPU: z.coerce.number().positive().optional().meta({
    description: 'The processor time that a sandbox may use at once.',
    unit: 'processor cores',
    default: defaults.cpu,
  }),
  SANDBOX_IDLE_S: count.optional().meta({
    description: 'A sandbox that is unused for so long stops; its files stay.',
    unit: 's',
    default: defaults.idleMs / 1_000,
  }),
  SANDBOX_ARCHIVE_H: z.coerce.number().int().min(0).max(87_600).default(24).meta({
    description:
      'The files of a sandbox that is unused for so long are archived: packed into one file in SANDBOX_ROOT, or by the service. The next use brings them back. `0`: never.',
    unit: 'h',
  }),
  SANDBOX_DELETE_DAYS: z.coerce.number().int().min(0).max(36_500).default(0).meta({
    description:
      'A sandbox that is unused for so long is deleted, **with its files**; the next call of a tool is told. `0`: never.',
    unit: 'd',
  }),
  ...snapshotVariables,
  SANDBOX_USD_PER_H: z.coerce.number().min(0).max(1_000).default(0).meta({
    description:
      'What an hour in which a sandbox runs costs, for `cost_usd` of sandboxes. With a service, its price; on your own hosts whatever you charge.',
    unit: 'USD',
  }),
  SANDBOX_EGRESS: z.enum(['none', 'public']).optional().meta({
    description: 'What commands may reach: nothing, or public addresses through the filtering proxy.',
    default: defaults.egress.policy,
  }),
  SANDBOX_ALLOWED_HOSTS: commaSeparated.optional().meta({
    description: 'Narrows `public` to these hosts, separated by commas; `*.example.org` for subdomains.',
    example: 'example.org,*.example.org',
    otherwise: 'all public hosts',
  }),
  ...reachVariables,
  SANDBOX_REQUESTS_PER_S: count.optional().meta({
    description: 'Requests and tunnels that a sandbox may open per second on average; four times as many at once.',
    default: defaults.egress.requestsPerSecond,
  }),
  ...serviceVariablesOfTools,
});
export const environment = variables.superRefine(checkProvider).superRefine(checkSnapshots);
export type Config = z.infer<typeof environment>;

/** By default no account can occupy all slots, unless there is only one slot. */
export const toSlots = (config: Config): SlotLimits => {
  const total = config.TOOL_CONCURRENCY;
  return {
    total,
    perAccount: config.TOOL_CONCURRENCY_PER_ACCOUNT ?? Math.ceil(total / 2),
    perThread: config.TOOL_CONCURRENCY_PER_THREAD ?? Math.ceil(total / 4),
  };
};

/** Beyond the drain of running calls and the copies of workspaces: to kill the rest, to answer them, and to close everything. */
const closingMs = 4_000;

/** How long a shutdown may take. */
export function toShutdownMs({ TOOL_DRAIN_S, SANDBOX_SNAPSHOTS, SANDBOX_SNAPSHOTS_CLOSE_S }: Config): number {
  const copiesS = SANDBOX_SNAPSHOTS === undefined ? 0 : SANDBOX_SNAPSHOTS_CLOSE_S;
  return (TOOL_DRAIN_S + copiesS) * 1_000 + closingMs;
}

/** Unset variables get the defaults of the sandbox settings. */
export const toSandboxSettings = (config: Config) =>
  sandboxSettings.parse({
    ...toProviderSettings(config),
    root: config.SANDBOX_ROOT,
    unsafeHost: config.SANDBOX_UNSAFE_HOST,
    bubblewrapPath: config.BWRAP_PATH,
    browserPath: config.BROWSER_PATH,
    memoryBytes: config.SANDBOX_MEMORY_MB && config.SANDBOX_MEMORY_MB * mebibyte,
    diskBytes: config.SANDBOX_DISK_MB && config.SANDBOX_DISK_MB * mebibyte,
    hardDisk: config.SANDBOX_DISK_HARD,
    freeDiskBytes: config.SANDBOX_DISK_FREE_MB === undefined ? undefined : config.SANDBOX_DISK_FREE_MB * mebibyte,
    rewindBytes: config.SANDBOX_REWIND_MB === undefined ? undefined : config.SANDBOX_REWIND_MB * mebibyte,
    rewindAccountBytes: config.SANDBOX_REWIND_ACCOUNT_MB && config.SANDBOX_REWIND_ACCOUNT_MB * mebibyte,
    files: config.SANDBOX_FILES,
    requireLimits: config.SANDBOX_REQUIRE_LIMITS ?? config.NODE_ENV === 'production',
    processes: config.SANDBOX_PROCESSES,
    cpu: config.SANDBOX_CPU,
    maxAwake: config.SANDBOX_MAX,
    prepared: config.SANDBOX_WARM,
    idleMs: config.SANDBOX_IDLE_S && config.SANDBOX_IDLE_S * 1_000,
    egress: {
      policy: config.SANDBOX_EGRESS,
      allowedHosts: config.SANDBOX_ALLOWED_HOSTS,
      internalHosts: config.SANDBOX_INTERNAL_HOSTS,
      deniedNetworks: config.SANDBOX_DENIED_NETWORKS,
      requestsPerSecond: config.SANDBOX_REQUESTS_PER_S,
    },
  });

/** Puts the password of `NATS_PASSWORD_FILE` into `NATS_URL`. Throws if the file cannot be read. */
export function withPasswordOfFile(config: Config): Config {
  if (config.NATS_PASSWORD_FILE === undefined) return config;
  const password = readFileSync(config.NATS_PASSWORD_FILE, 'utf8').trim();
  return { ...config, NATS_URL: withNatsPassword(config.NATS_URL, password) };
}

export const readConfig = (): Config => withPasswordOfFile(loadConfig(environment));
