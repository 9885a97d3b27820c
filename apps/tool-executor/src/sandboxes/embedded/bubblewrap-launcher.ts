import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname, join, basename } from 'node:path';
import { AgentProcess, toPipe } from '../host/agent/agent-process';
import {
  bubblewrapArguments,
  insideAgent,
  insideEgressSocket,
  insideLoader,
  insideSecretSocket,
  insideSessions,
} from './bubblewrap-arguments';
import type { ControlGroup, ControlGroups } from './control-groups';
import type { EgressGates } from '../egress/egress-gate';
import { proxyVariables, secretVariables } from '../egress/proxy-variables';
import { type WayOut, openWayOut, relaysTo } from '../egress/way-out';
import {
  agentMemoryMegabytes,
  type AgentConfiguration,
  type Freezing,
  type LaunchedAgent,
  type Launcher,
} from '../host/agent/launcher';
import { GroupedOwners } from '../host/processes/grouped-owners';
import { ListedOwners } from '../host/processes/listed-owners';
import { nodeProgram, type ShownProgram } from './node-program';
import { listChildren } from '../host/processes/process-table';
import { RunProcesses } from '../host/processes/run-processes';
import { guardCommand } from '../host/isolation/guarded-start';
import { BindMounts, type RuntimeDirectory } from '../host/isolation/runtime-directory';
import { type SandboxSettings, shownBrowser } from '../provider/sandbox-settings';
import { withSize } from '../provider/sandbox-shape';
import { SandboxError } from '../provider/sandbox-error';
import { requireSandboxUser } from '../host/workspaces/sandbox-users';
import { searchPath } from '../provider/program-path';
import { mountImage, withOwnMounts } from '../host/workspaces/workspace-images';
import type { Workspace } from '../host/workspaces/workspaces';
import { isShown } from './host-programs';

interface BubblewrapParts {
  settings: SandboxSettings;
  runtime: RuntimeDirectory;
  controlGroups: ControlGroups;
  egress: EgressGates;
  /** The path of a loader that sandboxes may execute but not read. */
  loader: string;
  bubblewrapPath: string;
  disableUserNamespaces: boolean;
}

interface Boot {
  readonly workspace: Workspace;
  /** With the size of this sandbox. */
  readonly settings: SandboxSettings;
  readonly group: ControlGroup;
  readonly wayOut: WayOut | undefined;
}

const fd = { control: 3, seccomp: 4, arguments: 5, status: 6 } as const;

/**
 * Runs with the executor's privileges. Its arguments are four lists that each end in `--`: control groups to join; images and
 * their mount points; directories to bind and their mount points; the command to exec. Closes all descriptors except those
 * meant for the sandbox, because this process may have inherited others.
 */
const joinAndExec = `
  while [ "$1" != -- ]; do echo $$ >"$1" || exit 71; shift; done; shift
  while [ "$1" != -- ]; do ${mountImage} || exit 73; shift 2; done; shift
  while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 72; shift 2; done; shift
  for path in /proc/self/fd/*; do
    descriptor=\${path##*/}
    if [ "$descriptor" -gt ${fd.status} ]; then eval "exec $descriptor>&-"; fi
  done
  exec "$@"`;
const entryCommand = ['bash', '--norc', '--noprofile', '-c', joinAndExec, 'bash'];

/** Boots agents in bubblewrap: namespaces, a user of its own (as root), a seccomp filter, limits, and one way out. */
export class BubblewrapLauncher implements Launcher {
  /** Processes inside see their workspace as a mount, which follows the directory. */
  readonly movesWorkspaces = true;
  private launches = 0;
  private readonly node = nodeProgram();

  constructor(private readonly parts: BubblewrapParts) {}

  async launch(workspace: Workspace): Promise<LaunchedAgent> {
    const { controlGroups, egress, runtime } = this.parts;
    const settings = withSize(this.parts.settings, workspace.shape?.size);
    requireSandboxUser(workspace, settings);
    const serial = String((this.launches += 1));
    const wayOut = await openWayOut(egress, {
      ...{ threadId: () => workspace.threadId, path: join(runtime.path, serial), uid: workspace.uid },
    });

    let group: ControlGroup | undefined;
    try {
      group = controlGroups.create(settings);
      return this.start({ workspace, settings, group, wayOut });
    } catch (error) {
      await Promise.all([group?.remove(), wayOut?.close()]);
      throw error;
    }
  }

  private start(use: Boot): LaunchedAgent {
    const { settings, group, wayOut } = use;
    const child = this.spawn(use);
    const agent = new AgentProcess(child);
    readFirstPid(child, agent);
    const ended = agent.ended.then(async (lastErrors) => {
      await Promise.all([group.remove(), wayOut?.close()]);
      return lastErrors;
    });
    return {
      control: toPipe(child, fd.control),
      configuration: this.configuration(wayOut, settings),
      ended,
      kill: () => agent.kill(),
      runProcesses: async (freezing) => toRunProcesses(await agent.first, group, freezing),
      outOfMemoryKills: () => group.outOfMemoryKills(),
    };
  }

  private spawn(use: Boot): ChildProcess {
    const { runtime, loader, disableUserNamespaces } = this.parts;
    const { settings } = use;
    const bindMounts = new BindMounts(runtime, use.workspace.uid);
    const programs = [this.node, browserProgram(settings.browserPath)];
    const shown = programs.flatMap((program) => program.shown);
    const view = bubblewrapArguments(
      {
        workspace: bindMounts.to(use.workspace.directory),
        skills: use.workspace.skills && bindMounts.to(use.workspace.skills),
        agent: runtime.agent,
        loader: bindMounts.to(loader),
        systemFiles: runtime.systemFiles,
        egressSocket: use.wayOut?.socketPath,
        secretSocket: use.wayOut?.secretSocketPath,
        programs: {
          shown: shown.map(({ from, to }) => ({ from: bindMounts.to(from), to })),
          links: programs.flatMap(({ links }) => links),
        },
        disableUserNamespaces,
        seccompFd: runtime.seccompFilter === undefined ? undefined : fd.seccomp,
        statusFd: fd.status,
      },
      settings,
    );
    const { image, directory } = use.workspace;
    const images = image === undefined ? [] : [image, directory];
    const [program = 'bash', ...rest] = [
      ...(bindMounts.pairs.length + images.length === 0 ? entryCommand : [...withOwnMounts, ...entryCommand]),
      ...[...use.group.processFiles, '--', ...images, '--', ...bindMounts.pairs, '--'],
      ...this.commandLine(use),
    ];
    const filter = runtime.seccompFilter === undefined ? undefined : openSync(runtime.seccompFilter, 'r');
    // A clean environment: every process inside can read that of bubblewrap's first process, even with `--clearenv`.
    const child = spawn(program, rest, {
      cwd: '/',
      env: { PATH: searchPath, LANG: 'C.UTF-8', HOME: '/workspace' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', filter ?? 'ignore', 'pipe', 'pipe'],
    });
    child.on('error', () => undefined); // without descriptors it has no pipes, and the error comes after that of their lack
    if (filter !== undefined) closeSync(filter);
    // Not on the command line, which every process inside can read as well.
    const argumentsPipe = toPipe(child, fd.arguments);
    argumentsPipe.on('error', () => argumentsPipe.destroy());
    argumentsPipe.end(view.map((argument) => `${argument}\0`).join(''));
    return child;
  }

  private commandLine({ workspace: { uid }, settings }: Boot): string[] {
    const { controlGroups, bubblewrapPath } = this.parts;
    const node = [
      this.node.path,
      `--max-old-space-size=${agentMemoryMegabytes}`,
      `${insideAgent}/main.cjs`,
      String(fd.control),
    ];
    return [
      ...(uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']),
      ...[bubblewrapPath, '--args', String(fd.arguments), '--'],
      // Set inside the sandbox: only there does the kernel count its processes separately from others of the same uid.
      ...['prlimit', `--nproc=${settings.processes}`, `--nofile=${settings.openFiles}`, '--core=0'],
      ...[
        `--fsize=${settings.fileSizeBytes}`,
        ...(controlGroups.memory ? [] : [`--data=${settings.memoryBytes}`]),
        '--',
      ],
      ...guardCommand(insideLoader, node),
    ];
  }

  private configuration(wayOut: WayOut | undefined, settings: SandboxSettings): AgentConfiguration {
    const { controlGroups, egress } = this.parts;
    return {
      workspace: '/workspace',
      sessionDirectory: insideSessions,
      environment: {
        PATH: [...(this.node.shown.length === 0 ? [] : [dirname(this.node.path)]), searchPath].join(':'),
        ...{ HOME: '/workspace', USER: 'agent', LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: '/tmp' },
        ...(wayOut ? proxyVariables(egress.rules) : {}),
      },
      ...(wayOut && {
        ...relaysTo(wayOut, { socketPath: insideEgressSocket, secretSocketPath: insideSecretSocket }),
        secretEnvironment: secretVariables(egress.rules, insideAgent),
      }),
      ...(controlGroups.memory ? {} : { watchedMemoryBytes: settings.memoryBytes }),
    };
  }
}

/** Right after the boot the agent is the only child of the sandbox's first process. */
function toRunProcesses(init: number, { forRuns }: ControlGroup, freezing: Freezing): RunProcesses {
  const [agent] = listChildren(init);
  if (!agent) throw new SandboxError('unavailable', 'The process of the agent was not found.');
  const { pid } = agent;
  const owners =
    forRuns === undefined ? new ListedOwners({ init, agent: pid, ...freezing }) : new GroupedOwners(forRuns, pid);
  return new RunProcesses(owners, { init, agent: pid });
}

function readFirstPid(child: ChildProcess, agent: AgentProcess): void {
  const status = toPipe(child, fd.status);
  status.on('error', () => status.destroy());
  status.setEncoding('utf8').on('data', (text: string) => {
    const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
    if (pid !== undefined) agent.setFirstPid(Number(pid));
  });
}

const insideDirectory = '/opt/browser';

/** A browser among the programs of the host is visible in every sandbox. From elsewhere its whole directory is mounted, which has its libraries too. */
function browserProgram(path: string | undefined): ShownProgram {
  if (path === undefined) return { shown: [], links: [] };
  if (isShown(path)) return { shown: [], links: [{ path: shownBrowser, target: path }] };
  return {
    shown: [{ from: dirname(path), to: insideDirectory }],
    links: [{ path: shownBrowser, target: join(insideDirectory, basename(path)) }],
  };
}
