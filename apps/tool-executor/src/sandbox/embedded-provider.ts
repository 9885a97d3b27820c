import { bootAgent } from './boot-agent';
import type { AgentConnection } from './agent-connection';
import type { EgressRules } from './egress/destination';
import { EmbeddedSandbox } from './embedded-sandbox';
import { prepareIsolation, type Isolation } from './prepare-isolation';
import type { ProbeResult, Sandbox, SandboxProvider } from './sandbox';
import { SandboxError } from './sandbox-error';
import type { SandboxLog } from './sandbox-log';
import type { SandboxSettings } from './sandbox-settings';
import { workspaceBytes } from './workspace-size';

const longestIdleCheckMs = 30_000;

/** All sandboxes of this process. Finds out once how to isolate here, and refuses everything when it cannot. */
export class EmbeddedProvider implements SandboxProvider {
  private readonly sandboxes = new Map<string, EmbeddedSandbox>();
  private isolation: Promise<Isolation> | undefined;
  private readonly timers: NodeJS.Timeout[];
  private closed = false;

  constructor(
    private readonly settings: SandboxSettings,
    private readonly log: SandboxLog,
    readonly egress: EgressRules,
  ) {
    this.timers = [
      this.every(Math.min(settings.idleMs / 4, longestIdleCheckMs), () => this.stopIdle()),
      this.every(settings.diskCheckMs, () => this.enforceDiskQuota()),
    ];
  }

  async probe(): Promise<ProbeResult> {
    return (await this.isolated()).result;
  }

  async get(threadId: string): Promise<Sandbox> {
    const { result } = await this.isolated();
    if (!result.usable) throw new SandboxError('unavailable', `${result.reason} ${result.advice}`);
    const sandbox = this.sandboxes.get(threadId) ?? this.create(threadId);
    this.sandboxes.set(threadId, sandbox);
    sandbox.touch();
    return sandbox;
  }

  async remove(threadId: string): Promise<void> {
    const sandbox = this.sandboxes.get(threadId);
    this.sandboxes.delete(threadId);
    await sandbox?.stop();
    await (await this.isolated()).workspaces.remove(threadId);
    this.log.info({ threadId }, 'sandbox removed');
  }

  async stopIdle(): Promise<string[]> {
    const idle = [...this.sandboxes.values()].filter((sandbox) => sandbox.isIdle(Date.now()));
    for (const sandbox of idle) {
      this.sandboxes.delete(sandbox.id);
      await sandbox.stop();
      this.log.info({ threadId: sandbox.id }, 'idle sandbox stopped');
    }
    return idle.map(({ id }) => id);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timers.forEach(clearInterval);
    await Promise.all([...this.sandboxes.values()].map((sandbox) => sandbox.stop()));
    this.sandboxes.clear();
    const isolation = await this.isolation?.catch(() => undefined);
    await isolation?.runtime.remove();
  }

  private async isolated(): Promise<Isolation> {
    if (this.closed) throw new SandboxError('unavailable', 'Sandboxes are shutting down.');
    this.isolation ??= this.prepare();
    return this.isolation;
  }

  private async prepare(): Promise<Isolation> {
    try {
      const isolation = await prepareIsolation(this.settings, this.egress);
      this.announce(isolation.result);
      return isolation;
    } catch (error) {
      this.isolation = undefined; // A full disk, say: the next one may be luckier.
      throw error;
    }
  }

  /** Repeats a chore, one at a time; a chore that fails is done again next time. */
  private every(intervalMs: number, chore: () => Promise<unknown>): NodeJS.Timeout {
    let busy = false;
    const attempt = async () => {
      if (busy || this.closed) return;
      busy = true;
      await chore().catch((error: unknown) => this.log.warn({ err: error }, 'sandbox upkeep failed'));
      busy = false;
    };
    return setInterval(() => void attempt(), intervalMs).unref();
  }

  private announce(result: ProbeResult): void {
    if (!result.usable) this.log.warn(result, 'sandboxes unavailable');
    else if (result.isolation === 'none') this.log.warn(result, 'commands run WITHOUT ISOLATION on this host');
    else this.log.info(result, 'sandboxes available');
  }

  private create(threadId: string): EmbeddedSandbox {
    return new EmbeddedSandbox(threadId, this.settings, () => this.boot(threadId));
  }

  private async boot(threadId: string): Promise<AgentConnection> {
    const startedAt = Date.now();
    const { launcher, workspaces } = await this.isolated();
    const workspace = await workspaces.open(threadId);
    const connection = await bootAgent(launcher, workspace, this.settings.bootTimeoutMs);
    this.log.info({ threadId, durationMs: Date.now() - startedAt }, 'sandbox booted');
    void connection.ended.then(() => this.log.info({ threadId }, 'sandbox ended'));
    return connection;
  }

  private async enforceDiskQuota(): Promise<void> {
    if (this.sandboxes.size === 0) return;
    const { workspaces } = await this.isolated();
    for (const sandbox of this.sandboxes.values()) {
      if (!sandbox.isAwake) continue;
      const { directory } = await workspaces.open(sandbox.id);
      if ((await workspaceBytes(directory)) <= this.settings.diskBytes) continue;
      this.log.warn({ threadId: sandbox.id }, 'disk quota exceeded');
      await sandbox.killRunning('The workspace is over its disk quota: delete something first.');
    }
  }
}
