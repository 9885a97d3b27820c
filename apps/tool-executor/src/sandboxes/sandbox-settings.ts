import { internalHost, network } from '@rondo/platform';
import { z } from 'zod';

const mebibyte = 1024 * 1024;
const bytes = z.number().int().positive();
const milliseconds = z.number().int().positive();

/**
 * What leaves a sandbox: nothing, or public addresses through the proxy; allowed hosts narrow the latter (`*.example.org`
 * for subdomains). Internal hosts may be reached under either policy, whatever their addresses are.
 */
export const egressSettings = z.object({
  policy: z.enum(['none', 'public']).default('public'),
  allowedHosts: z.array(z.string().min(1)).optional(),
  internalHosts: z.array(internalHost).default([]),
  /** Refused though they are public; internal hosts may lie in them. */
  deniedNetworks: z.array(network).default([]),
  /** Of one sandbox, in the long run. */
  requestsPerSecond: z.number().int().positive().default(50),
});
export type EgressSettings = z.infer<typeof egressSettings>;

/** Everything that can be tuned about sandboxes. Only the root directory has no default. */
export const sandboxSettings = z.object({
  /** Workspaces live here, one directory per thread. */
  root: z.string().min(1),
  bubblewrapPath: z.string().min(1).default('bwrap'),
  /** Where control groups are looked for. */
  controlGroupMount: z.string().min(1).default('/sys/fs/cgroup'),
  /** Boots no sandbox whose memory and processes no control group limits. Without isolation there is nothing to limit. */
  requireLimits: z.boolean().default(false),
  /** Runs commands as plain processes of the host, without isolation. For a developer's own machine only. */
  unsafeHost: z.boolean().default(false),
  egress: egressSettings.prefault({}),
  memoryBytes: bytes.default(2048 * mebibyte),
  processes: z.number().int().positive().default(256),
  /** In processor cores. */
  cpu: z.number().positive().default(2),
  openFiles: z.number().int().positive().default(4096),
  /** One file. */
  fileSizeBytes: bytes.default(1024 * mebibyte),
  /** The whole workspace. Where that limit is only watched, it is exceeded for a moment. */
  diskBytes: bytes.default(4096 * mebibyte),
  /** Whether new workspaces are disks of that size: where it can be had, never, or no sandbox boots without. */
  hardDisk: z.enum(['auto', 'off', 'required']).default('auto'),
  /** Files and directories of a sandbox, those of its disks in memory too. */
  files: z.number().int().positive().default(500_000),
  /** How often a sandbox that may be writing is measured, unless measuring takes long. */
  diskCheckMs: milliseconds.default(2_000),
  temporaryBytes: bytes.default(256 * mebibyte),
  /** Of a file that is read or written in one piece. */
  transferBytes: bytes.max(4 * mebibyte).default(4 * mebibyte),
  listedEntries: z.number().int().positive().max(10_000).default(2_000),
  commandTimeoutMs: milliseconds.default(120_000),
  graceMs: milliseconds.default(1_000),
  outputBytes: bytes.default(8 * mebibyte),
  backgroundOutputBytes: bytes.default(64 * mebibyte),
  keepBytes: bytes.default(50_000),
  bootTimeoutMs: milliseconds.default(10_000),
  /** Where no sandbox could be booted, it is tried again after this long, when somebody asks. */
  probeAgainMs: milliseconds.default(30_000),
  idleMs: milliseconds.default(15 * 60_000),
  /** A job in the background keeps its sandbox awake for this long at most. */
  backgroundKeepAliveMs: milliseconds.default(4 * 3_600_000),
  /** Uids for sandboxes when running as root; the default range is one that Linux distributions leave unused. */
  firstUid: z.number().int().positive().default(1_900_000_000),
  uidCount: z.number().int().positive().default(100_000_000),
});
export type SandboxSettings = z.infer<typeof sandboxSettings>;
export type SandboxSettingsInput = z.input<typeof sandboxSettings>;
