import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BubblewrapLauncher } from './bubblewrap-launcher';
import { detectControlGroups, noControlGroups, type ControlGroups } from './control-groups';
import { UnsafeHostLauncher } from './unsafe-host-launcher';
import { guardTrial, installLoader } from '../host/isolation/guarded-start';
import type { Isolation, IsolationSite } from '../host/isolation/isolation';
import type { Launcher } from '../host/agent/launcher';
import { runTrial } from '../host/isolation/run-trial';
import { createRuntimeDirectory, type RuntimeDirectory } from '../host/isolation/runtime-directory';
import type { ProbeResult } from '../provider/sandbox-provider';
import { searchPath } from '../host/processes/search-path';
import { seccompFilter } from './seccomp-filter';
import { adviceFor, hardDiskIsMissing, limitsAreMissing } from './sandbox-advice';
import { toMessage } from '@rondo/platform';

/** What the embedded provider found out about this host. */
export interface EmbeddedDetails extends Record<string, unknown> {
  /** `none` only when the operator has switched isolation off explicitly. */
  readonly isolation: 'bubblewrap' | 'none';
  /** `disk` is `hard` where the kernel enforces the limit, and `watched` where the executor measures and stops afterwards. */
  readonly limits: {
    readonly cgroup: 'v1' | 'v2' | 'none';
    readonly memory: boolean;
    readonly processes: boolean;
    readonly cpu: boolean;
    readonly disk: 'hard' | 'watched';
  };
  /** Why the disk is only watched. */
  readonly diskReason?: string;
  /** Every sandbox has a uid of its own; needs root. */
  readonly separateUsers: boolean;
}

export type EmbeddedProbeResult = ProbeResult & { readonly details: EmbeddedDetails };

type LaunchParts = IsolationSite & { controlGroups: ControlGroups; runtime: RuntimeDirectory };

const run = promisify(execFile);

/** Finds the strongest isolation that works here. Never falls back to none: that needs an explicit setting. */
export async function prepareIsolation(site: IsolationSite): Promise<Isolation<EmbeddedProbeResult>> {
  const controlGroups = site.settings.unsafeHost
    ? noControlGroups
    : detectControlGroups(site.settings.controlGroupMount);
  let runtime: RuntimeDirectory | undefined;
  const noHardDisk = await site.workspaces.images.probe(site.workspaces.root);
  const found = { controlGroups, noHardDisk };
  if (site.settings.hardDisk === 'required' && noHardDisk !== undefined) {
    const reason = `${hardDiskIsMissing} ${noHardDisk}`;
    return { result: toResult(site, found, reason), remove: () => Promise.resolve() };
  }
  if (site.settings.requireLimits && lacksLimits(site, controlGroups)) {
    return { result: toResult(site, found, limitsAreMissing), remove: () => Promise.resolve() };
  }
  try {
    runtime = await createRuntimeDirectory(seccompFilter(process.arch));
    await site.egress.secrets?.authority.writeTo(runtime.agent);
    const launcher = await firstWorkingLauncher({ ...site, controlGroups, runtime });
    return { result: toResult(site, found), launcher, remove: runtime.remove };
  } catch (error) {
    await runtime?.remove();
    return { result: toResult(site, found, toMessage(error)), remove: () => Promise.resolve() };
  }
}

/** Rejects with the failure of the first way, which is the one that the operator should repair. */
async function firstWorkingLauncher(parts: LaunchParts): Promise<Launcher> {
  let failure: string | undefined;
  for await (const launcher of launchersToTry(parts)) {
    const problem = await runTrial(launcher, parts, parts.settings.unsafeHost ? 'true' : guardTrial);
    if (problem === undefined) return launcher;
    failure ??= problem;
  }
  throw new Error(failure);
}

/** The ways to boot sandboxes, the strongest isolation first. */
async function* launchersToTry({ workspaces, ...parts }: LaunchParts): AsyncGenerator<Launcher> {
  const { settings, runtime } = parts;
  if (settings.unsafeHost) {
    yield new UnsafeHostLauncher(runtime);
    return;
  }
  const given = settings.bubblewrapPath;
  const loader = await installLoader(settings.root);
  const bubblewrapPath = workspaces.separateUsers ? await runtime.makeReachable(given) : given;
  for (const disableUserNamespaces of await canDisableUserNamespaces(bubblewrapPath)) {
    yield new BubblewrapLauncher({ ...parts, loader, bubblewrapPath, disableUserNamespaces });
  }
}

const lacksLimits = ({ settings }: IsolationSite, { memory, processes }: ControlGroups): boolean =>
  !settings.unsafeHost && !(memory && processes);

interface Found {
  controlGroups: ControlGroups;
  /** Why the disk has no hard limit; undefined where it has. */
  noHardDisk: string | undefined;
}

function toResult(site: IsolationSite, { controlGroups, noHardDisk }: Found, failure?: string): EmbeddedProbeResult {
  const { settings, workspaces } = site;
  const { version, memory, processes, cpu } = controlGroups;
  const isUnlimited = failure === undefined && lacksLimits(site, controlGroups);
  const isolated = !settings.unsafeHost;
  return {
    usable: failure === undefined,
    ...(failure !== undefined && { reason: failure, advice: adviceFor(failure) }),
    ...(isUnlimited && { warning: `${limitsAreMissing} ${adviceFor(limitsAreMissing)}` }),
    capabilities: {
      isolation: isolated,
      egressPolicy: isolated,
      hardDisk: noHardDisk === undefined,
      size: isolated ? [...(cpu ? ['cpus' as const] : []), 'memory_mb', 'disk_mb'] : [],
      backgroundSessions: true,
      stdin: true,
      runProcesses: isolated,
      ports: isolated, // without isolation it would be the loopback of the host
    },
    details: {
      isolation: isolated ? 'bubblewrap' : 'none',
      limits: { cgroup: version, memory, processes, cpu, disk: noHardDisk === undefined ? 'hard' : 'watched' },
      ...(noHardDisk !== undefined && { diskReason: noHardDisk }),
      separateUsers: workspaces.separateUsers,
    },
  };
}

/** Old versions of bubblewrap lack the option; the seccomp filter denies the same system calls. */
async function canDisableUserNamespaces(bubblewrapPath: string): Promise<boolean[]> {
  const help = await run(bubblewrapPath, ['--help'], { env: { PATH: searchPath } }).catch(() => ({ stdout: '' }));
  return help.stdout.includes('--disable-userns') ? [true, false] : [false];
}
