import { internalHost, network } from '@rondo/platform';
import { z } from 'zod';
import { daytonaSettings } from './daytona-settings';
import { dockerSettings } from './docker-settings';

const mebibyte = 1024 * 1024;
const bytes = z.number().int().positive();
const milliseconds = z.number().int().positive();

/**
 * What commands may reach: nothing, or public addresses through the proxy, optionally only the allowed hosts (`*.example.org`
 * for subdomains). Internal hosts may be reached under either policy, whatever their addresses are.
 */
export const egressSettings = z.object({
  policy: z.enum(['none', 'public']).default('public'),
  allowedHosts: z.array(z.string().min(1)).optional(),
  internalHosts: z.array(internalHost).default([]),
  /** Refused although they are public. Internal hosts may be in them. */
  deniedNetworks: z.array(network).default([]),
  /** Of one sandbox, on average. */
  requestsPerSecond: z.number().int().positive().default(50),
});
export type EgressSettings = z.infer<typeof egressSettings>;

/** What runs may have installed into the images of their sandboxes. */
export const packageSettings = z.object({
  kinds: z.array(z.enum(['apt', 'pip', 'npm'])).default([]),
  /** What an installation reaches, of what sandboxes may. */
  hosts: z
    .array(z.string().min(1))
    .default(['deb.debian.org', 'security.debian.org', 'pypi.org', 'files.pythonhosted.org', 'registry.npmjs.org']),
  pipIndex: z.url().optional(),
  npmRegistry: z.url().optional(),
  installMs: milliseconds.default(600_000),
  /** What an installation may add to the image. It is only watched. */
  installedBytes: bytes.default(4096 * mebibyte),
  /** How many images with packages an engine keeps. */
  kept: z.number().int().positive().default(20),
});
export type PackageSettings = z.infer<typeof packageSettings>;

/** All settings of sandboxes. Only the root directory has no default. */
export const sandboxSettings = z.object({
  /** Where sandboxes run: on this machine, in containers on it, or at a service. */
  provider: z.enum(['embedded', 'docker', 'daytona']).default('embedded'),
  docker: dockerSettings.optional(),
  daytona: daytonaSettings.optional(),
  /** The name of the deployment, with which it labels its sandboxes. Several deployments may share an account or a machine. */
  install: z.string().min(1).optional(),
  /** Workspaces live here, one directory per thread. */
  root: z.string().min(1),
  bubblewrapPath: z.string().min(1).default('bwrap'),
  /** Chromium on this machine. Without it there is no browser in embedded sandboxes. */
  browserPath: z.string().startsWith('/').optional(),
  /** The mount point of control groups. */
  controlGroupMount: z.string().min(1).default('/sys/fs/cgroup'),
  /** Refuses to boot sandboxes when no control group limits their memory and processes. Ignored without isolation. */
  requireLimits: z.boolean().default(false),
  /** Runs commands as plain processes of the host, without isolation. For a developer's own machine only. */
  unsafeHost: z.boolean().default(false),
  /** What runs may have their sandboxes made from, beside the provider's own image: names, or what is below `name/*`. */
  images: z.array(z.string().min(1)).default([]),
  packages: packageSettings.prefault({}),
  egress: egressSettings.prefault({}),
  memoryBytes: bytes.default(2048 * mebibyte),
  processes: z.number().int().positive().default(256),
  /** In processor cores. */
  cpu: z.number().positive().default(2),
  openFiles: z.number().int().positive().default(4096),
  /** One file. */
  fileSizeBytes: bytes.default(1024 * mebibyte),
  /** The whole workspace. A limit that is only watched can be exceeded for a moment. */
  diskBytes: bytes.default(4096 * mebibyte),
  /** Whether new workspaces are disk images of that size: if possible, never, or always (else no sandbox boots). */
  hardDisk: z.enum(['auto', 'off', 'required']).default('auto'),
  /** Of the disk with the workspaces: below it, nothing new is taken. 0: no floor. */
  freeDiskBytes: z
    .number()
    .int()
    .nonnegative()
    .default(1024 * mebibyte),
  /** Files and directories of a sandbox, including its in-memory file systems. */
  files: z.number().int().positive().default(500_000),
  /** How often the disk usage of a sandbox that may be writing is measured, unless measuring takes long. */
  diskCheckMs: milliseconds.default(2_000),
  /** What the states of a workspace that are kept may take. 0: none is kept. */
  rewindBytes: z.number().int().nonnegative().default(0),
  /** What those of all workspaces of an account may take. */
  rewindAccountBytes: z.number().int().positive().optional(),
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
  /** After a failed probe, the next call after this time tries again. */
  probeAgainMs: milliseconds.default(30_000),
  /** Sandboxes that are awake at the same time; who uses the provider keeps to it, and prepared ones count. */
  maxAwake: z.number().int().positive().default(128),
  /** How many are booted before a thread needs them. Only isolated ones on this machine can be. */
  prepared: z.number().int().nonnegative().default(0),
  idleMs: milliseconds.default(15 * 60_000),
  /** A background job keeps its sandbox awake for this long at most. */
  backgroundKeepAliveMs: milliseconds.default(4 * 3_600_000),
  /** Uids for sandboxes when running as root; the default range is one that Linux distributions leave unused. */
  firstUid: z.number().int().positive().default(1_900_000_000),
  uidCount: z.number().int().positive().default(100_000_000),
});
export type SandboxSettings = z.infer<typeof sandboxSettings>;
export type SandboxSettingsInput = z.input<typeof sandboxSettings>;

/** Where embedded sandboxes show the browser of this machine. */
export const shownBrowser = '/opt/browser-program';

/** The browser as commands of a sandbox see it. Undefined where sandboxes have none. */
export function browserInSandboxes(settings: SandboxSettings): string | undefined {
  const { provider, browserPath, docker, unsafeHost } = settings;
  if (provider === 'docker') return docker?.browserPath;
  return provider === 'embedded' && browserPath !== undefined && !unsafeHost ? shownBrowser : undefined;
}
