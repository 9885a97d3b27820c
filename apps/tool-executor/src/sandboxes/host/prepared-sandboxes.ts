import type { SandboxLabels, SandboxLog } from '../provider/sandbox-provider';
import type { AgentConnection } from './agent/agent-connection';
import { bootAgent } from './agent/boot-agent';
import type { Workspace, Workspaces } from './workspaces/workspaces';
import type { Launcher } from './agent/launcher';
import { isAbandoned, newPreparedId } from './workspaces/prepared-ids';

interface PreparedParts {
  /** How many may be ready now. */
  readonly allowed: () => number;
  readonly launcher: () => Promise<Launcher>;
  readonly workspaces: Pick<Workspaces, 'open' | 'adopt' | 'remove' | 'hasFiles' | 'listPrepared'>;
  readonly bootTimeoutMs: number;
  readonly log: SandboxLog;
}

interface Prepared {
  readonly workspace: Workspace;
  readonly connection: AgentConnection;
}

/** The command of the thread that has got one comes first. */
const refillAfterMs = 300;

/**
 * Sandboxes that are booted before a thread needs one, so that its first command does not wait for a boot. In a prepared one
 * nothing has run and nothing was written. To bind it renames its directory: the thread then has a sandbox and files like any
 * other, and the next boot of the thread is an ordinary one.
 */
export class PreparedSandboxes {
  private readonly ready: Prepared[] = [];
  private readonly swept: Promise<void>;
  private filling: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private bound = 0;
  private closed = false;

  constructor(private readonly parts: PreparedParts) {
    this.swept = this.sweep().catch((error: unknown) => this.warn(error, 'prepared sandboxes not removed'));
  }

  get counts(): { readonly ready: number; readonly bound: number } {
    return { ready: this.ready.length, bound: this.bound };
  }

  /**
   * The agent in a sandbox that is the thread's from now on. Undefined where the thread has files, or none is ready; by then
   * one has been ended if the thread's own would be too many.
   */
  async bind(threadId: string, labels: SandboxLabels): Promise<AgentConnection | undefined> {
    const connection = await this.bindReady(threadId, labels);
    await this.adjust();
    return connection;
  }

  /** Ends those that are too many, and boots those that are missing a moment later. */
  async adjust(): Promise<void> {
    const surplus = this.ready.splice(Math.max(0, this.parts.allowed()));
    if (this.isMissing()) this.timer ??= setTimeout(() => this.fill(), refillAfterMs).unref();
    await Promise.all(surplus.map((prepared) => this.discard(prepared)));
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await Promise.all([this.swept, this.filling]);
    await Promise.all(this.ready.splice(0).map((prepared) => this.discard(prepared)));
  }

  private async bindReady(threadId: string, labels: SandboxLabels): Promise<AgentConnection | undefined> {
    const { workspaces } = this.parts;
    const prepared = workspaces.hasFiles(threadId) ? undefined : await this.takeAlive();
    if (!prepared) return undefined;
    try {
      await workspaces.adopt(prepared.workspace, threadId, labels);
    } catch (error) {
      this.warn(error, 'prepared sandbox not bound');
      await this.discard(prepared);
      return undefined;
    }
    this.bound += 1;
    return prepared.connection;
  }

  /** It is asked for an answer: one that has just died may not have been noticed yet. */
  private async takeAlive(): Promise<Prepared | undefined> {
    for (let prepared = this.ready.shift(); prepared; prepared = this.ready.shift()) {
      await prepared.connection.signalProcesses('thaw');
      if (prepared.connection.isOpen) return prepared;
      await this.discard(prepared);
    }
    return undefined;
  }

  private isMissing(): boolean {
    return !this.closed && this.ready.length < this.parts.allowed();
  }

  private fill(): void {
    this.timer = undefined;
    this.filling ??= this.prepareMissing()
      .catch((error: unknown) => this.warn(error, 'sandbox not prepared'))
      .finally(() => (this.filling = undefined));
  }

  /** One after the other: threads that boot meanwhile need the processors, too. */
  private async prepareMissing(): Promise<void> {
    await this.swept;
    while (this.isMissing()) {
      const prepared = await this.prepare();
      if (!prepared) return;
      if (this.isMissing()) this.keep(prepared);
      else await this.discard(prepared);
    }
  }

  /** Undefined where sandboxes cannot change their thread here. */
  private async prepare(): Promise<Prepared | undefined> {
    const { launcher, workspaces, bootTimeoutMs } = this.parts;
    const launches = await launcher();
    if (!launches.movesWorkspaces) return undefined;
    const id = newPreparedId();
    try {
      const workspace = await workspaces.open(id);
      return { workspace, connection: await bootAgent(launches, workspace, bootTimeoutMs) };
    } catch (error) {
      await workspaces.remove(id);
      throw error;
    }
  }

  /** One that dies unused is noticed here. */
  private keep(prepared: Prepared): void {
    this.ready.push(prepared);
    void prepared.connection.ended.then(async () => {
      const at = this.ready.indexOf(prepared);
      if (at < 0) return;
      this.ready.splice(at, 1);
      this.parts.log.warn({}, 'prepared sandbox ended before its use');
      await this.discard(prepared);
    });
  }

  private async discard({ workspace, connection }: Prepared): Promise<void> {
    try {
      if (await connection.kill()) await connection.ended;
      await this.parts.workspaces.remove(workspace.threadId);
    } catch (error) {
      this.warn(error, 'prepared sandbox not removed');
    }
  }

  /** Removes what an executor has left that was killed. Its processes died with it. */
  private async sweep(): Promise<void> {
    const { workspaces, log } = this.parts;
    for (const id of (await workspaces.listPrepared()).filter(isAbandoned)) {
      await workspaces.remove(id);
      log.info({ id }, 'abandoned prepared sandbox removed');
    }
  }

  private warn(error: unknown, text: string): void {
    if (!this.closed) this.parts.log.warn({ err: error }, text);
  }
}
