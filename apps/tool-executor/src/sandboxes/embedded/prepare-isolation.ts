import { execFile, spawn } from 'node:child_process';
import { availableParallelism, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxSize } from '@rondo/contract';
import { toMessage } from '@rondo/platform';
import { BubblewrapLauncher } from './bubblewrap-launcher';
import { detectControlGroups, noControlGroups, type ControlGroups } from './control-groups';
import { guardTrial, installLoader } from '../host/isolation/guarded-start';
import type { Isolation, IsolationSite } from '../host/isolation/isolation';
import type { Launcher, LaunchedAgent } from '../host/agent/launcher';
import { runTrial } from '../host/isolation/run-trial';
import { createRuntimeDirectory, type RuntimeDirectory } from '../host/isolation/runtime-directory';
import type { ProbeResult } from '../provider/sandbox-provider';
import type { SandboxSettings } from '../provider/sandbox-settings';
import { toLargestSize } from '../provider/sandbox-shape';
import { searchPath } from '../provider/program-path';
import { seccompFilter } from './seccomp-filter';
import { AgentProcess, toPipe } from '../host/agent/agent-process';
import { diesWithin } from '../host/processes/process-liveness';
import type { Workspace } from '../host/workspaces/workspaces';

/** What the embedded provider found out about this host. */
interface EmbeddedDetails extends Record<string, unknown> {
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
      size: isolated ? toSize(settings, cpu) : {},
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

function toSize(settings: SandboxSettings, limitsCpu: boolean): SandboxSize {
  const { cpus, ...others } = toLargestSize(settings, { cpus: availableParallelism(), memoryBytes: totalmem() });
  return limitsCpu ? { cpus, ...others } : others;
}

/** Old versions of bubblewrap lack the option; the seccomp filter denies the same system calls. */
async function canDisableUserNamespaces(bubblewrapPath: string): Promise<boolean[]> {
  const help = await run(bubblewrapPath, ['--help'], { env: { PATH: searchPath } }).catch(() => ({ stdout: '' }));
  return help.stdout.includes('--disable-userns') ? [true, false] : [false];
}

const selfExitMs = 1_000;

/**
 * NO ISOLATION: runs the agent as a plain process of this user. Commands can read and change whatever the executor can. For
 * a developer's own machine on which bubblewrap cannot run; only an explicit setting switches it on.
 */
class UnsafeHostLauncher implements Launcher {
  /** Commands see the real path of their workspace. */
  readonly movesWorkspaces = false;

  constructor(private readonly runtime: RuntimeDirectory) {}

  launch({ threadId, directory }: Workspace): Promise<LaunchedAgent> {
    const child = spawn(process.execPath, [join(this.runtime.agent, 'main.cjs'), '3'], {
      cwd: directory,
      env: { PATH: searchPath, LANG: 'C.UTF-8', HOME: directory },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const agent = new AgentProcess(child);
    const control = toPipe(child, 3);
    return Promise.resolve({
      control,
      configuration: {
        workspace: directory,
        sessionDirectory: join(this.runtime.path, 'sessions', threadId),
        environment: { PATH: searchPath, HOME: directory, LANG: 'C.UTF-8', TERM: 'dumb' },
        realRoot: realpathSync(directory),
      },
      ended: agent.ended,
      // No namespace ends the commands with the agent, so the agent gets time to kill them itself.
      kill: async () => {
        control.destroy();
        const exitedByItself = child.pid === undefined || (await diesWithin(child.pid, selfExitMs));
        return exitedByItself || agent.kill();
      },
      outOfMemoryKills: () => 0,
    });
  }
}

interface Advice {
  when: RegExp;
  advice: string;
}

const general =
  'Sandboxes need Linux with bubblewrap and user namespaces. On a machine of your own you may run without isolation by setting SANDBOX_UNSAFE_HOST=1.';

const limitsAreMissing =
  'No control group limits the memory and the processes of sandboxes here: one of them can use up those of the machine.';

const hardDiskIsMissing = 'Workspaces cannot have a hard disk limit here, and SANDBOX_DISK_HARD=required asks for one.';

const known: readonly Advice[] = [
  {
    when: /bwrap\S*: (No such file|command not found)|failed to execute/,
    advice: 'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap) or name its path.',
  },
  {
    when: /setting up uid map|No permissions to create (a )?new namespace|Creating new namespace failed/i,
    advice:
      'User namespaces are switched off for this program. On Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give bubblewrap an AppArmor profile. On Debian: sysctl kernel.unprivileged_userns_clone=1.',
  },
  {
    when: /mount proc/i,
    advice:
      'This container masks /proc. Start it with --security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (Podman).',
  },
  {
    when: /Process \d+ is open/,
    advice: 'Commands could change the process that runs them. Set sysctl fs.suid_dumpable=0.',
  },
  {
    when: /source path.*Permission denied|execvp.*Permission denied/i,
    advice:
      'Running as root, every sandbox has a user of its own, which must be able to reach the sandbox directory and Node: choose a root outside /root (directories on the way need o+x).',
  },
];

const adviceOnLimits =
  'Run the tool-executor as root, in a container with its own writable control groups (--cgroupns=private and a writable /sys/fs/cgroup), ' +
  'or as a systemd service with Delegate=yes. SANDBOX_REQUIRE_LIMITS=0 runs tools all the same.';

const adviceOnDisks =
  'Run the tool-executor as root, with e2fsprogs and util-linux, the capability CAP_SYS_ADMIN and loop devices (/dev/loop-control, /dev/loop*). ' +
  'SANDBOX_DISK_HARD=auto runs tools all the same.';

/** What an operator can do about the failure of a boot. */
export function adviceFor(failure: string): string {
  if (failure === limitsAreMissing) return adviceOnLimits;
  if (failure.startsWith(hardDiskIsMissing)) return adviceOnDisks;
  const match = known.find(({ when }) => when.test(failure));
  return match ? `${match.advice} ${general}` : general;
}
