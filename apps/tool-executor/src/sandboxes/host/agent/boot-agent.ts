import { AgentConnection } from './agent-connection';
import type { Launcher } from './launcher';
import { SandboxError } from '../../provider/sandbox-error';
import type { Workspace } from '../workspaces/workspaces';

/** Boots and configures an agent. Rejects with `unavailable`; the message is what the failed program wrote to stderr. */
export async function bootAgent(launcher: Launcher, workspace: Workspace, timeoutMs: number): Promise<AgentConnection> {
  const launched = await launcher.launch(workspace);
  const connection = new AgentConnection(launched);
  try {
    await connection.request('configure', launched.configuration, timeoutMs);
    connection.runProcesses = await launched.runProcesses?.({
      freeze: () => connection.signalProcesses('freeze'),
      thaw: () => connection.signalProcesses('thaw'),
    });
    return connection;
  } catch {
    await connection.kill();
    const lastErrors = await connection.ended;
    throw new SandboxError('unavailable', lastErrors || 'The sandbox did not start in time.');
  }
}
