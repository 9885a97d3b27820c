import { setTimeout as delay } from 'node:timers/promises';
import { bootAgent } from './agent/boot-agent';
import type { AgentConnection } from './agent/agent-connection';
import type { EgressGate, EgressGates } from './egress/egress-gate';
import { EmbeddedSandbox } from './embedded-sandbox';
import { IsolationOnDemand } from './isolation/isolation-on-demand';
import type { Launcher } from './isolation/launcher';
import { type Isolation, prepareIsolation } from './isolation/prepare-isolation';
import { type ProcessTable, readProcessTable } from './commands/process-table';
import type { AwakeSandbox, EndedCommand, ProbeResult, Sandbox, SandboxProvider } from '../sandbox';
import { SandboxError } from '../sandbox-error';
import type { SandboxLog } from '../sandbox-log';
import type { SandboxSettings } from '../sandbox-settings';
import { Workspaces } from './files/workspaces';

const longestIdleCheckMs = 30_000;

/** All sandboxes of this process. Finds out how to isolate here, and boots none while it cannot. */
export class EmbeddedProvider implements SandboxProvider {
  private readonly sandboxes = new Map<string, EmbeddedSandbox>();
  /** Those that were booted and may be alive, also where no thread uses them any more: few of all that are known. */
  private readonly booted = new Set<EmbeddedSandbox>();
  private readonly removals = new Map<string, Promise<void>>();
  private readonly workspaces: Workspaces;
  private readonly isolation: IsolationOnDemand;
  private readonly timers: NodeJS.Timeout[];
  private closed = false;

  constructor(
    private readonly settings: SandboxSettings,
    private readonly log: SandboxLog,
    private readonly egress: EgressGates,
  ) {
    const workspaces = new Workspaces(settings, !settings.unsafeHost && process.getuid?.() === 0);
    const prepare = () => prepareIsolation({ settings, egress, workspaces });
    this.workspaces = workspaces;
    this.isolation = new IsolationOnDemand({ prepare, probeAgainMs: settings.probeAgainMs, log });
    this.timers = [
      this.every(Math.min(settings.idleMs / 4, longestIdleCheckMs), () => this.stopIdle()),
      this.every(settings.diskCheckMs, () => this.enforceDiskQuotas()),
    ];
  }

  egressOf(threadId: string): EgressGate {
    return this.egress.of(threadId);
  }

  async probe(): Promise<ProbeResult> {
    return (await this.isolated()).result;
  }

  async get(threadId: string): Promise<Sandbox> {
    await this.launcher();
    await this.removals.get(threadId)?.catch(() => undefined); // whoever removes it is told
    const sandbox = this.sandboxes.get(threadId) ?? this.create(threadId);
    this.sandboxes.set(threadId, sandbox);
    sandbox.touch();
    return sandbox;
  }

  endRun(threadId: string, run: string): Promise<EndedCommand[]> {
    return this.sandboxes.get(threadId)?.endRun(run) ?? Promise.resolve([]);
  }

  async remove(threadId: string): Promise<void> {
    const removal = this.removals.get(threadId) ?? this.vacate(threadId).finally(() => this.removals.delete(threadId));
    this.removals.set(threadId, removal);
    return removal;
  }

  awake(): AwakeSandbox[] {
    return this.living().map((sandbox) => sandbox.activity());
  }

  isAwake(threadId: string): boolean {
    return this.sandboxes.get(threadId)?.isAwake === true;
  }

  async putToSleep(threadId: string): Promise<void> {
    const sandbox = this.sandboxes.get(threadId);
    if (!sandbox) return;
    this.sandboxes.delete(threadId);
    await sandbox.stop();
    this.egress.forget(threadId);
    this.log.info({ threadId }, 'idle sandbox stopped');
  }

  async stopIdle(): Promise<string[]> {
    const stopped: string[] = [];
    for (const sandbox of this.sandboxes.values()) {
      if (!sandbox.isIdle(Date.now())) continue;
      await this.putToSleep(sandbox.id);
      stopped.push(sandbox.id);
    }
    return stopped;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timers.forEach(clearInterval);
    await Promise.all([...this.sandboxes.values()].map((sandbox) => sandbox.stop()));
    this.sandboxes.clear();
    await this.isolation.close();
  }

  private async isolated(): Promise<Isolation> {
    if (this.closed) throw new SandboxError('unavailable', 'Sandboxes are shutting down.');
    return this.isolation.get();
  }

  private async launcher(): Promise<Launcher> {
    const { launcher, result } = await this.isolated();
    if (!launcher) throw new SandboxError('unavailable', `${result.reason} ${result.advice}`);
    return launcher;
  }

  /** Needs no isolation: where none is to be had, files can be deleted all the same. */
  private async vacate(threadId: string): Promise<void> {
    await this.sandboxes.get(threadId)?.stop();
    this.sandboxes.delete(threadId);
    this.egress.forget(threadId);
    await this.workspaces.remove(threadId);
    this.log.info({ threadId }, 'sandbox removed');
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

  private living(): EmbeddedSandbox[] {
    for (const sandbox of this.booted) if (!sandbox.isAwake) this.booted.delete(sandbox);
    return [...this.booted];
  }

  private create(threadId: string): EmbeddedSandbox {
    const sandbox: EmbeddedSandbox = new EmbeddedSandbox(threadId, this.settings, {
      boot: () => this.boot(sandbox),
      usage: (watched) => this.workspaces.usage(threadId, watched),
    });
    return sandbox;
  }

  /** Not for who still holds one that was put away: nobody would stop it, and of a removed one the files would be back. */
  private async boot(sandbox: EmbeddedSandbox): Promise<AgentConnection> {
    const { id: threadId } = sandbox;
    const startedAt = Date.now();
    this.booted.add(sandbox);
    const launcher = await this.launcher();
    if (this.sandboxes.get(threadId) !== sandbox || this.removals.has(threadId)) {
      throw new SandboxError('unavailable', 'The sandbox was put away.');
    }
    const workspace = await this.workspaces.open(threadId);
    const connection = await bootAgent(launcher, workspace, this.settings.bootTimeoutMs);
    this.log.info({ threadId, durationMs: Date.now() - startedAt }, 'sandbox booted');
    void connection.ended.then(() => this.log.info({ threadId }, 'sandbox ended'));
    return connection;
  }

  /** Each for itself: one that has many files to count must not delay the look at another. The process table is read once. */
  private async enforceDiskQuotas(): Promise<void> {
    let table: ProcessTable | undefined;
    const processes = () => (table ??= readProcessTable());
    const checks = this.living().map(async (sandbox) => {
      const refusal = await sandbox.disk.enforce(processes);
      if (refusal !== undefined) this.log.warn({ threadId: sandbox.id, refusal }, 'disk quota exceeded');
    });
    await Promise.race([Promise.all(checks), delay(this.settings.diskCheckMs, undefined, { ref: false })]);
  }
}
