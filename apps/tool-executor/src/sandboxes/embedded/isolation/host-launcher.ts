import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { AgentProcess, pipeOf } from '../agent/agent-process';
import type { LaunchedAgent, Launcher } from './launcher';
import { diesWithin } from '../commands/process-liveness';
import type { RuntimeDirectory } from './runtime-directory';
import { searchPath } from './search-path';
import type { Workspace } from '../files/workspaces';

const farewellMs = 1_000;

/**
 * NO ISOLATION: the same agent as a plain process of this user. Commands can read and change whatever we can. It exists for
 * a developer's own machine where bubblewrap cannot run, and only an explicit setting switches it on.
 */
export class UnsafeHostLauncher implements Launcher {
  constructor(private readonly runtime: RuntimeDirectory) {}

  launch({ threadId, directory }: Workspace): Promise<LaunchedAgent> {
    const child = spawn(process.execPath, [join(this.runtime.agent, 'main.cjs'), '3'], {
      cwd: directory,
      env: { PATH: searchPath, LANG: 'C.UTF-8', HOME: directory },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const agent = new AgentProcess(child);
    const control = pipeOf(child, 3);
    return Promise.resolve({
      control,
      configuration: {
        workspace: directory,
        sessionDirectory: join(this.runtime.path, 'sessions', threadId),
        environment: { PATH: searchPath, HOME: directory, LANG: 'C.UTF-8', TERM: 'dumb' },
        realRoot: realpathSync(directory),
      },
      ended: agent.ended,
      // No kernel kills the commands along with the agent, so it is first given the chance to do so itself.
      kill: async () => {
        control.destroy();
        const leftByItself = child.pid === undefined || (await diesWithin(child.pid, farewellMs));
        return leftByItself || agent.kill();
      },
      outOfMemoryKills: () => 0,
    });
  }
}
