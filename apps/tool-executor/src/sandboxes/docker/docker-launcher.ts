import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { proxyVariables, secretVariables } from '../egress/proxy-variables';
import { type WayOut, openWayOut, relaysTo } from '../egress/way-out';
import { ListedOwners } from '../host/processes/listed-owners';
import { listChildren } from '../host/processes/process-table';
import { RunProcesses } from '../host/processes/run-processes';
import type { AgentConfiguration, Freezing, LaunchedAgent, Launcher } from '../host/agent/launcher';
import type { RuntimeDirectory } from '../host/isolation/runtime-directory';
import { requireSandboxUser } from '../host/workspaces/sandbox-users';
import { searchPath } from '../provider/program-path';
import type { Workspace } from '../host/workspaces/workspaces';
import type { EgressGates } from '../egress/egress-gate';
import { EngineAway, SandboxError } from '../provider/sandbox-error';
import type { ReportStep } from '../provider/sandbox-provider';
import type { SandboxSettings } from '../provider/sandbox-settings';
import { type SandboxShape, withSize } from '../provider/sandbox-shape';
import { AttachedStreams } from './attached-streams';
import { containerRequest, inside } from './container-request';
import type { DockerSettings } from '../provider/docker-settings';
import { type EngineClient, isAway } from './engine-client';
import type { SandboxImages } from './sandbox-images';
import { toMessage } from '@rondo/platform';

export interface DockerParts {
  readonly engine: EngineClient;
  readonly settings: SandboxSettings;
  readonly docker: DockerSettings;
  readonly images: SandboxImages;
  readonly runtime: RuntimeDirectory;
  readonly egress: EgressGates;
}

/** Boots agents in containers, one for each sandbox that is awake. Files stay on this host, where the containers mount them. */
export class DockerLauncher implements Launcher {
  /** Containers carry the names of their threads. */
  readonly movesWorkspaces = false;
  private launches = 0;
  /** Whether processes of containers are visible here, so that they can be attributed to runs. Known after the first boot. */
  seesProcesses = false;

  constructor(private readonly parts: DockerParts) {}

  provide(shape: SandboxShape, report?: ReportStep): Promise<string> {
    return this.parts.images.find(shape, report);
  }

  async launch(workspace: Workspace): Promise<LaunchedAgent> {
    const { engine, settings, egress, runtime } = this.parts;
    requireSandboxUser(workspace, settings);
    if (workspace.image !== undefined) {
      throw new SandboxError('unavailable', 'The workspace is a disk image, which containers cannot mount.');
    }
    const name = ['rondo', settings.install ?? [], workspace.threadId].flat().join('-');
    const path = join(runtime.path, String((this.launches += 1)));
    const { threadId, uid } = workspace;
    const wayOut = await openWayOut(egress, { threadId: () => threadId, path, uid });
    try {
      await engine.remove(name); // one that an executor has left which died
      return await this.run(name, workspace, wayOut);
    } catch (error) {
      await engine.remove(name).catch(() => undefined); // the failure to report is the first one
      await wayOut?.close();
      const message = `Docker: ${toMessage(error)}`;
      if (error instanceof SandboxError) throw error;
      throw isAway(error) ? new EngineAway(message) : new SandboxError('unavailable', message);
    }
  }

  private async run(name: string, workspace: Workspace, wayOut: WayOut | undefined): Promise<LaunchedAgent> {
    const { engine, docker, runtime, images } = this.parts;
    const image = await images.find(workspace.shape);
    const settings = withSize(this.parts.settings, workspace.shape?.size);
    const sockets = { egressSocket: wayOut?.socketPath, secretSocket: wayOut?.secretSocketPath };
    const files = { agentDirectory: runtime.agent, ...sockets };
    const id = await engine.create(name, containerRequest({ settings, docker, image, workspace, name, ...files }));
    const control = new AttachedStreams(await engine.attach(id));
    control.on('error', () => undefined); // The connection to the agent listens later; a broken one is closed.
    await engine.start(id);
    return {
      control,
      configuration: this.configuration(wayOut),
      ended: engine.untilRemoved(id).then(async () => {
        await wayOut?.close();
        return control.lastErrors.trim();
      }),
      kill: () =>
        engine.remove(id).then(
          () => true,
          () => false,
        ),
      runProcesses: async (freezing) => {
        const processes = findRunProcesses(await engine.firstPid(id), name, freezing);
        this.seesProcesses = processes !== undefined;
        return processes;
      },
      outOfMemoryKills: () => 0, // A command that was killed for memory is reported with its exit code.
    };
  }

  private configuration(wayOut: WayOut | undefined): AgentConfiguration {
    const { rules } = this.parts.egress;
    return {
      workspace: inside.workspace,
      sessionDirectory: inside.sessions,
      environment: {
        ...{ PATH: searchPath, HOME: inside.workspace, USER: 'agent', LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: '/tmp' },
        ...(wayOut && proxyVariables(rules)),
      },
      ...(wayOut && {
        ...relaysTo(wayOut, { socketPath: inside.egressSocket, secretSocketPath: inside.secretSocket }),
        secretEnvironment: secretVariables(rules, inside.agent),
      }),
    };
  }
}

/** Undefined where the engine runs in another process namespace: its numbers then name nothing here, or other processes. */
function findRunProcesses(init: number, name: string, freezing: Freezing): RunProcesses | undefined {
  const agent = listChildren(init).find(({ pid }) => toCommandLine(pid).endsWith(`\0${name}\0`))?.pid;
  if (init === 0 || agent === undefined) return undefined;
  return new RunProcesses(new ListedOwners({ init, agent, ...freezing }), { init, agent });
}

function toCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return ''; // It has ended meanwhile.
  }
}
