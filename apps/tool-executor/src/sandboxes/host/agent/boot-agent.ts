import { AgentConnection } from './agent-connection';
import type { Launcher } from './launcher';
import { SandboxError } from '../../provider/sandbox-error';
import type { Workspace } from '../workspaces/workspaces';

/** At most one agent at a time: booted at the first use, and again after it was stopped or has died. */
export class AgentOnDemand {
  private connection: AgentConnection | undefined;
  private booting: Promise<AgentConnection> | undefined;

  constructor(private readonly boot: () => Promise<AgentConnection>) {}

  get isAwake(): boolean {
    return this.booting !== undefined || this.connection?.isOpen === true;
  }

  /** The running agent, if there is one. Waits for one that is being booted. */
  async awake(): Promise<AgentConnection | undefined> {
    const connection = (await this.booting?.catch(() => undefined)) ?? this.connection;
    return connection?.isOpen ? connection : undefined;
  }

  async get(): Promise<AgentConnection> {
    if (this.connection?.isOpen) return this.connection;
    this.booting ??= this.bootAfter(this.connection).finally(() => (this.booting = undefined));
    return this.booting;
  }

  /** True when no process of the sandbox is alive and its files on the host are deleted. */
  async stop(): Promise<boolean> {
    const connection = (await this.booting?.catch(() => undefined)) ?? this.connection;
    if (!connection) return true;
    const dead = await connection.kill();
    if (dead) await connection.ended;
    return dead;
  }

  private async bootAfter(previous: AgentConnection | undefined): Promise<AgentConnection> {
    await previous?.ended;
    this.connection = await this.boot();
    return this.connection;
  }
}

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
    const isDead = await connection.kill();
    const lastErrors = isDead ? await connection.ended : '';
    throw new SandboxError('unavailable', lastErrors || 'The sandbox did not start in time.');
  }
}
