import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { AgentProcess, toPipe } from '../host/agent/agent-process';
import type { LaunchedAgent, Launcher } from '../host/agent/launcher';
import { diesWithin } from '../host/processes/process-liveness';
import type { RuntimeDirectory } from '../host/isolation/runtime-directory';
import { searchPath } from '../host/processes/search-path';
import type { Workspace } from '../host/workspaces/workspaces';

const selfExitMs = 1_000;

/**
 * NO ISOLATION: runs the agent as a plain process of this user. Commands can read and change whatever the executor can. For
 * a developer's own machine on which bubblewrap cannot run; only an explicit setting switches it on.
 */
export class UnsafeHostLauncher implements Launcher {
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
