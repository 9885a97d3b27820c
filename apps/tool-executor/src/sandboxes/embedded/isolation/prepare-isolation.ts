import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { bootAgent } from '../agent/boot-agent';
import { BubblewrapLauncher } from './bubblewrap-launcher';
import { detectControlGroups, noControlGroups, type ControlGroups } from './control-groups';
import type { EgressGates } from '../egress/egress-gate';
import { EmbeddedSandbox } from '../embedded-sandbox';
import { UnsafeHostLauncher } from './host-launcher';
import type { Launcher } from './launcher';
import { createRuntimeDirectory, type RuntimeDirectory } from './runtime-directory';
import type { ProbeResult } from '../../sandbox';
import type { SandboxSettings } from '../../sandbox-settings';
import { searchPath } from './search-path';
import { seccompFilter } from './seccomp-filter';
import { adviceFor, hardDiskIsMissing, limitsAreMissing } from './sandbox-advice';
import type { Workspaces } from '../files/workspaces';

/** What it takes to boot sandboxes on this host. */
export interface Isolation {
  result: ProbeResult;
  /** Proven by having run a command in a sandbox; missing where that failed. */
  launcher?: Launcher;
  /** Takes away what it has put on this host. */
  remove: () => Promise<void>;
}

interface Site {
  settings: SandboxSettings;
  egress: EgressGates;
  workspaces: Workspaces;
}

type Equipment = Site & { controlGroups: ControlGroups; runtime: RuntimeDirectory };

const run = promisify(execFile);

/** Finds the strongest isolation that works here. It never falls back to none: that takes an explicit setting. */
export async function prepareIsolation(site: Site): Promise<Isolation> {
  const controlGroups = site.settings.unsafeHost
    ? noControlGroups
    : detectControlGroups(site.settings.controlGroupMount);
  let runtime: RuntimeDirectory | undefined;
  const noHardDisk = await site.workspaces.images.probe(site.workspaces.root);
  const found = { controlGroups, noHardDisk };
  if (site.settings.hardDisk === 'required' && noHardDisk !== undefined) {
    const reason = `${hardDiskIsMissing} ${noHardDisk}`;
    return { result: resultOf(site, found, reason), remove: () => Promise.resolve() };
  }
  if (site.settings.requireLimits && lacksLimits(site, controlGroups)) {
    return { result: resultOf(site, found, limitsAreMissing), remove: () => Promise.resolve() };
  }
  try {
    runtime = await createRuntimeDirectory(seccompFilter(process.arch));
    const launcher = await provenLauncher({ ...site, controlGroups, runtime });
    return { result: resultOf(site, found), launcher, remove: runtime.remove };
  } catch (error) {
    await runtime?.remove();
    return { result: resultOf(site, found, wordsOf(error)), remove: () => Promise.resolve() };
  }
}

/** Rejects with what went wrong in the first of the ways, which is the one to mend. */
async function provenLauncher(equipment: Equipment): Promise<Launcher> {
  let failure: string | undefined;
  for await (const launcher of launchers(equipment)) {
    const words = await tryOut(launcher, equipment);
    if (words === undefined) return launcher;
    failure ??= words;
  }
  throw new Error(failure);
}

/** The ways to boot sandboxes that are worth a try, the best first. */
async function* launchers({ workspaces, ...parts }: Equipment): AsyncGenerator<Launcher> {
  const { settings, runtime } = parts;
  if (settings.unsafeHost) {
    yield new UnsafeHostLauncher(runtime);
    return;
  }
  const given = settings.bubblewrapPath;
  const bubblewrapPath = workspaces.separateUsers ? await runtime.makeReachable(given) : given;
  for (const disableUserNamespaces of await canDisableUserNamespaces(bubblewrapPath)) {
    yield new BubblewrapLauncher({ ...parts, bubblewrapPath, disableUserNamespaces });
  }
}

const lacksLimits = ({ settings }: Site, { memory, processes }: ControlGroups): boolean =>
  !settings.unsafeHost && !(memory && processes);

interface Found {
  controlGroups: ControlGroups;
  /** Why there are no hard limits of the disk, if so. */
  noHardDisk: string | undefined;
}

function resultOf(site: Site, { controlGroups, noHardDisk }: Found, failure?: string): ProbeResult {
  const { settings, workspaces } = site;
  const { version, memory, processes, cpu } = controlGroups;
  const isUnlimited = failure === undefined && lacksLimits(site, controlGroups);
  return {
    usable: failure === undefined,
    isolation: settings.unsafeHost ? 'none' : 'bubblewrap',
    limits: { cgroup: version, memory, processes, cpu, disk: noHardDisk === undefined ? 'hard' : 'watched' },
    ...(noHardDisk !== undefined && { diskReason: noHardDisk }),
    separateUsers: workspaces.separateUsers,
    ...(isUnlimited && { warning: `${limitsAreMissing} ${adviceFor(limitsAreMissing)}` }),
    ...(failure === undefined ? {} : { reason: failure, advice: adviceFor(failure) }),
  };
}

/** Old versions of bubblewrap lack the option; the seccomp filter stands in for it. */
async function canDisableUserNamespaces(bubblewrapPath: string): Promise<boolean[]> {
  const help = await run(bubblewrapPath, ['--help'], { env: { PATH: searchPath } }).catch(() => ({ stdout: '' }));
  return help.stdout.includes('--disable-userns') ? [true, false] : [false];
}

/** Undefined when a command really ran in a sandbox, else why not. */
async function tryOut(launcher: Launcher, { workspaces, settings, egress }: Site): Promise<string | undefined> {
  const threadId = `probe-${randomUUID()}`;
  const sandbox = new EmbeddedSandbox(threadId, settings, {
    boot: async () => bootAgent(launcher, await workspaces.open(threadId), settings.bootTimeoutMs),
    usage: (watched) => workspaces.usage(threadId, watched),
  });
  try {
    const outcome = await sandbox.exec({ id: 'probe', command: 'true' });
    return outcome.exitCode === 0 ? undefined : `A trial command ended with ${outcome.ending}. ${outcome.output}`;
  } catch (error) {
    return wordsOf(error);
  } finally {
    egress.forget(threadId);
    await sandbox.stop().finally(() => workspaces.remove(threadId));
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
