import { AgentConnection } from './agent-connection';
import type { Launcher } from '../isolation/launcher';
import { SandboxError } from '../../sandbox-error';
import type { Workspace } from '../files/workspaces';

/** An agent that is up and has its configuration. Rejects with `unavailable` and the reason in the words of whoever gave up. */
export async function bootAgent(launcher: Launcher, workspace: Workspace, timeoutMs: number): Promise<AgentConnection> {
  const launched = await launcher.launch(workspace);
  const connection = new AgentConnection(launched);
  try {
    await connection.request('configure', launched.configuration, timeoutMs);
    connection.runProcesses = await launched.runProcesses?.({
      freeze: () => connection.ask('freeze'),
      thaw: () => connection.ask('thaw'),
    });
    return connection;
  } catch {
    await connection.kill();
    const lastWords = await connection.ended;
    throw new SandboxError('unavailable', lastWords || 'The sandbox did not start in time.');
  }
}
