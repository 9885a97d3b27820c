import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { bootAgent } from './boot-agent';
import { BubblewrapLauncher } from './bubblewrap-launcher';
import { detectControlGroups, noControlGroups, type ControlGroups } from './control-groups';
import type { EgressRules } from './egress/destination';
import { EmbeddedSandbox } from './embedded-sandbox';
import { UnsafeHostLauncher } from './host-launcher';
import { searchPath, type Launcher } from './launcher';
import { createRuntimeDirectory, type RuntimeDirectory } from './runtime-directory';
import type { ProbeResult } from './sandbox';
import type { SandboxSettings } from './sandbox-settings';
import { seccompFilter } from './seccomp-filter';
import { adviceFor } from './sandbox-advice';
import { Workspaces } from './workspaces';

/** What it takes to boot sandboxes on this host, proven by having run a command in one. */
export interface Isolation {
  result: ProbeResult;
  workspaces: Workspaces;
  runtime: RuntimeDirectory;
  launcher: Launcher;
}

const run = promisify(execFile);

/** Finds the strongest isolation that works here. It never falls back to none: that takes an explicit setting. */
export async function prepareIsolation(settings: SandboxSettings, egress: EgressRules): Promise<Isolation> {
  const runtime = await createRuntimeDirectory(seccompFilter(process.arch));
  const separateUsers = !settings.unsafeHost && process.getuid?.() === 0;
  const workspaces = new Workspaces(settings, separateUsers);
  const controlGroups = settings.unsafeHost ? noControlGroups : detectControlGroups();
  const found = { workspaces, runtime };
  const result = (failure?: string) => resultOf({ settings, controlGroups, separateUsers, failure });

  if (settings.unsafeHost) {
    const launcher = new UnsafeHostLauncher(runtime);
    return { ...found, launcher, result: result(await tryOut({ launcher, workspaces, settings })) };
  }
  let failure: string | undefined;
  const bubblewrapPath = separateUsers ? await runtime.makeReachable(settings.bubblewrapPath) : settings.bubblewrapPath;
  const parts = { settings, runtime, controlGroups, egress, bubblewrapPath };
  for (const disableUserNamespaces of await canDisableUserNamespaces(bubblewrapPath)) {
    const launcher = new BubblewrapLauncher({ ...parts, disableUserNamespaces });
    const attempt = await tryOut({ launcher, workspaces, settings });
    if (attempt === undefined) return { ...found, launcher, result: result() };
    failure ??= attempt;
  }
  const launcher = new BubblewrapLauncher({ ...parts, disableUserNamespaces: false });
  return { ...found, launcher, result: result(failure) };
}

interface Findings {
  settings: SandboxSettings;
  controlGroups: ControlGroups;
  separateUsers: boolean;
  failure: string | undefined;
}

function resultOf({ settings, controlGroups, separateUsers, failure }: Findings): ProbeResult {
  const { version, memory, processes, cpu } = controlGroups;
  return {
    usable: failure === undefined,
    isolation: settings.unsafeHost ? 'none' : 'bubblewrap',
    limits: { cgroup: version, memory, processes, cpu },
    separateUsers,
    ...(failure === undefined ? {} : { reason: failure, advice: adviceFor(failure) }),
  };
}

/** Which ways are worth a try, the best first. Old versions of bubblewrap lack the option; the seccomp filter stands in for it. */
async function canDisableUserNamespaces(bubblewrapPath: string): Promise<boolean[]> {
  const help = await run(bubblewrapPath, ['--help'], { env: { PATH: searchPath } }).catch(() => ({ stdout: '' }));
  return help.stdout.includes('--disable-userns') ? [true, false] : [false];
}

/** Undefined when a command really ran in a sandbox, else why not. */
async function tryOut(use: { launcher: Launcher; workspaces: Workspaces; settings: SandboxSettings }) {
  const { launcher, workspaces, settings } = use;
  const threadId = `probe-${randomUUID()}`;
  const sandbox = new EmbeddedSandbox(threadId, settings, async () =>
    bootAgent(launcher, await workspaces.open(threadId), settings.bootTimeoutMs),
  );
  try {
    const outcome = await sandbox.exec({ id: 'probe', command: 'true' });
    return outcome.exitCode === 0 ? undefined : `A trial command ended with ${outcome.ending}. ${outcome.output}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await sandbox.stop();
    await workspaces.remove(threadId);
  }
}
