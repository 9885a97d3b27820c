import { setTimeout as delay } from 'node:timers/promises';
import type { EgressGate, EgressGates } from '../egress/egress-gate';
import type { EndedCommand, Sandbox } from '../provider/sandbox';
import { LiveSandboxes } from '../provider/live-sandboxes';
import { SandboxError } from '../provider/sandbox-error';
import {
  type AwakeSandbox,
  hasLabels,
  type ListedSandbox,
  type PreparedCounts,
  type ProbeResult,
  type ReportStep,
  type SandboxLabels,
  type SandboxLog,
  type SandboxProvider,
} from '../provider/sandbox-provider';
import { type DeletionReason, SandboxRecords } from '../provider/sandbox-records';
import type { SandboxSettings } from '../provider/sandbox-settings';
import { type SandboxShape, SandboxShapes, refuseShape, requireSize, withSize } from '../provider/sandbox-shape';
import type { AgentConnection } from './agent/agent-connection';
import { bootAgent } from './agent/boot-agent';
import { type CopySettings, WorkspaceCopies } from './workspaces/workspace-copies';
import { HostSandbox } from './host-sandbox';
import { FreeDisk } from '../provider/free-disk';
import { Moments } from './moments/moments';
import { Workspaces } from './workspaces/workspaces';
import { IsolationOnDemand, type Isolation, type IsolationSite } from './isolation/isolation';
import type { Launcher } from './agent/launcher';
import { PreparedSandboxes } from './prepared-sandboxes';
import { Upkeep } from './upkeep';
import { type ProcessTable, readProcessTable } from './processes/process-table';

const longestIdleCheckMs = 30_000;
/** After a failure. */
const prepareAgainMs = 30_000;

interface HostParts<Result extends ProbeResult> {
  readonly name: string;
  readonly log: SandboxLog;
  readonly egress: EgressGates;
  /** Finds out whether and how sandboxes can be booted here. */
  readonly prepare: (site: IsolationSite) => Promise<Isolation<Result>>;
  /** Absent: its workspaces are not copied. */
  readonly copies?: CopySettings | undefined;
}

/**
 * Sandboxes whose processes and files are on this machine, each with an agent inside. This folder is what the providers `embedded`
 * and `docker` share; `prepare` decides how they are isolated, and while nothing works, none is booted.
 */
export class HostProvider<Result extends ProbeResult = ProbeResult> implements SandboxProvider {
  readonly name: string;
  readonly affinity = 'executor';
  private readonly log: SandboxLog;
  private readonly egress: EgressGates;
  readonly records: SandboxRecords;
  readonly copies?: WorkspaceCopies;
  private readonly sandboxes: LiveSandboxes<HostSandbox>;
  /** Sandboxes that were booted and may be alive, including those that no thread uses any more. Scanned often, so kept short. */
  private readonly booted = new Set<HostSandbox>();
  private readonly workspaces: Workspaces;
  readonly freeDisk: FreeDisk;
  readonly moments?: Moments;
  private readonly isolation: IsolationOnDemand<Result>;
  private readonly ahead: PreparedSandboxes;
  private readonly upkeep: Upkeep;
  private readonly shapes = new SandboxShapes();
  private closed = false;

  constructor(
    private readonly settings: SandboxSettings,
    { name, log, egress, prepare, copies }: HostParts<Result>,
  ) {
    this.name = name;
    this.log = log;
    this.egress = egress;
    this.records = new SandboxRecords(settings.root);
    this.sandboxes = new LiveSandboxes(this.records, log);
    const workspaces = new Workspaces(settings, !settings.unsafeHost && process.getuid?.() === 0);
    this.workspaces = workspaces;
    this.freeDisk = new FreeDisk(settings.root, settings.freeDiskBytes);
    this.isolation = new IsolationOnDemand({
      ...{ log, probeAgainMs: settings.probeAgainMs },
      prepare: () => prepare({ settings, egress, workspaces, log }),
    });
    this.ahead = new PreparedSandboxes({
      ...{ workspaces, log, bootTimeoutMs: settings.bootTimeoutMs },
      allowed: () => Math.min(settings.prepared, settings.maxAwake - this.awakeSandboxes().length),
      launcher: () => this.launcher(),
    });
    const deleteFiles = (threadId: string) => this.stopAndDelete(threadId);
    const held = { workspaces, records: this.records, sandboxes: this.sandboxes, deleteFiles, log };
    if (settings.rewindBytes > 0) this.moments = this.toMoments(workspaces);
    if (copies) this.copies = new WorkspaceCopies({ settings: copies, ...held });
    this.upkeep = new Upkeep(log);
    this.upkeep.every(Math.min(settings.idleMs / 4, longestIdleCheckMs), () => this.stopIdle());
    const quotas = { withinMs: settings.diskCheckMs, log };
    this.upkeep.every(settings.diskCheckMs, () => enforceDiskQuotas(this.awakeSandboxes(), quotas));
    this.upkeep.every(prepareAgainMs, () => this.ahead.adjust());
  }

  toEgress(threadId: string): EgressGate {
    return this.egress.of(threadId);
  }

  findShape(threadId: string): SandboxShape | undefined {
    return this.shapes.find(threadId);
  }

  async reshape(threadId: string, shape: SandboxShape | undefined, report?: ReportStep): Promise<void> {
    if (shape?.size) requireSize(shape.size, { most: (await this.prepareIsolation()).result.capabilities.size });
    const [field] = (['image', 'packages'] as const).filter((one) => shape?.[one] !== undefined);
    if (shape && field !== undefined) {
      const launcher = await this.launcher();
      if (!launcher.provide) throw refuseShape(field, 'sandboxes here have the programs of their host');
      await launcher.provide(shape, report);
    }
    this.shapes.set(threadId, shape);
  }

  async probe(): Promise<Result> {
    const { result } = await this.prepareIsolation();
    if ((await this.freeDisk.refusal()) === undefined) await this.ahead.adjust();
    return result;
  }

  async get(threadId: string, labels: SandboxLabels = {}): Promise<Sandbox> {
    await this.launcher();
    return this.sandboxes.get(threadId, () => this.create(threadId, labels));
  }

  async list(labels: Partial<SandboxLabels> = {}): Promise<ListedSandbox[]> {
    const listed = await this.workspaces.list(labels.thread);
    return listed
      .filter((sandbox) => hasLabels(sandbox.labels, labels))
      .map((sandbox) => (this.isAwake(sandbox.threadId) ? { ...sandbox, state: 'awake' } : sandbox));
  }

  /** Undefined without isolation, where nothing could be shown at a path of its own. */
  async openSkills(threadId: string, labels: SandboxLabels): Promise<string | undefined> {
    if (this.settings.unsafeHost) return undefined;
    await this.freeDisk.require();
    return this.workspaces.openSkills(threadId, labels);
  }

  endRun(threadId: string, run: string): Promise<EndedCommand[]> {
    this.egress.of(threadId).secrets?.end(run);
    return this.sandboxes.find(threadId)?.endRun(run) ?? Promise.resolve([]);
  }

  remove(threadId: string, reason?: DeletionReason): Promise<void> {
    const removed = () => this.sandboxes.remove(threadId, () => this.stopAndDelete(threadId), { reason });
    return this.copies?.remove(threadId, reason, removed) ?? removed();
  }

  /** The sandbox of an agent that has died may still be ending: no process may write while its files are packed. */
  async archive(threadId: string): Promise<boolean> {
    if (this.isAwake(threadId)) return false;
    await this.sandboxes.find(threadId)?.stop();
    if (this.closed || this.isAwake(threadId)) return false;
    const isArchived = await this.workspaces.archive(threadId);
    if (isArchived) await this.records.recordArchive(threadId, await this.workspaces.diskBytes(threadId));
    return isArchived;
  }

  diskBytes(threadId: string): number | undefined {
    return this.isAwake(threadId) ? this.sandboxes.find(threadId)?.disk.usedBytes : undefined;
  }

  awake(): AwakeSandbox[] {
    return this.awakeSandboxes().map((sandbox) => sandbox.activity());
  }

  countPrepared(): PreparedCounts {
    return this.ahead.counts;
  }

  isAwake(threadId: string): boolean {
    return this.sandboxes.isAwake(threadId);
  }

  async putToSleep(threadId: string): Promise<void> {
    const sandbox = this.sandboxes.find(threadId);
    if (!sandbox) return;
    this.sandboxes.forget(threadId);
    await sandbox.stop();
    this.egress.remove(threadId);
    this.copies?.saveSoon(threadId);
    this.log.info({ threadId }, 'idle sandbox stopped');
  }

  stopIdle(): Promise<string[]> {
    return this.sandboxes.stopIdle((threadId) => this.putToSleep(threadId));
  }

  async close(): Promise<void> {
    this.closed = true;
    this.upkeep.stop();
    await this.ahead.close();
    await this.moments?.close();
    await Promise.all(this.sandboxes.all().map((sandbox) => sandbox.stop()));
    await this.sandboxes.close();
    await this.copies?.close();
    await this.workspaces.close();
    await this.isolation.close();
  }

  private async prepareIsolation(): Promise<Isolation<Result>> {
    if (this.closed) throw new SandboxError('unavailable', 'Sandboxes are shutting down.');
    return this.isolation.get();
  }

  private async launcher(): Promise<Launcher> {
    const { launcher, result } = await this.prepareIsolation();
    if (!launcher) throw new SandboxError('unavailable', `${result.reason} ${result.advice}`);
    return launcher;
  }

  /** Needs no isolation, so that files can be deleted where sandboxes cannot be booted any more. */
  private async stopAndDelete(threadId: string): Promise<void> {
    await this.sandboxes.find(threadId)?.stop();
    this.sandboxes.forget(threadId);
    this.egress.forget(threadId);
    this.shapes.set(threadId, undefined);
    await this.moments?.remove(threadId);
    await this.workspaces.remove(threadId);
    this.log.info({ threadId }, 'sandbox removed');
  }

  private toMoments(workspaces: Workspaces): Moments {
    const { root, rewindBytes, rewindAccountBytes = 4 * rewindBytes, files } = this.settings;
    return new Moments({
      ...{ root, maxBytes: rewindBytes, accountBytes: rewindAccountBytes, maxEntries: files, log: this.log },
      openRoot: async (threadId, labels) => {
        if (labels) {
          await this.launcher();
          await (await this.sandboxes.get(threadId, () => this.create(threadId, labels))).openView();
        }
        if (!workspaces.isImage(threadId)) return workspaces.toDirectory(threadId);
        const awake = this.isAwake(threadId) ? this.sandboxes.find(threadId) : undefined;
        if (awake) return awake.openView();
        throw new SandboxError('unavailable', 'The sandbox ended before its files were kept.');
      },
      putToSleep: (threadId) => this.putToSleep(threadId),
      requireSpace: () => this.freeDisk.require(),
    });
  }

  private awakeSandboxes(): HostSandbox[] {
    for (const sandbox of this.booted) if (!sandbox.isAwake) this.booted.delete(sandbox);
    return [...this.booted];
  }

  private create(threadId: string, labels: SandboxLabels): HostSandbox {
    const settings = withSize(this.settings, this.shapes.find(threadId)?.size);
    const sandbox: HostSandbox = new HostSandbox(threadId, settings, {
      boot: () => this.boot(sandbox, labels),
      usage: (watched) => this.workspaces.usage(threadId, watched),
      freeDisk: this.freeDisk,
      findPlaceholders: (run) => this.egress.of(threadId).secrets?.placeholders(run),
    });
    return sandbox;
  }

  /**
   * Refuses a sandbox that was put to sleep or removed while a caller still had a reference to it: no idle check would stop
   * it, and the files of a removed one would be back.
   */
  private async boot(sandbox: HostSandbox, labels: SandboxLabels): Promise<AgentConnection> {
    const { id: threadId } = sandbox;
    const startedAt = Date.now();
    this.booted.add(sandbox);
    const launcher = await this.launcher();
    if (!this.sandboxes.isCurrent(sandbox)) {
      throw new SandboxError('unavailable', 'The sandbox was stopped or removed meanwhile.');
    }
    if (!(await this.workspaces.isUnpacked(threadId))) await this.freeDisk.require(); // it would make files
    const { install } = this.settings;
    const given = { ...(install !== undefined && { install }), ...labels };
    const bound = this.shapes.find(threadId) ? undefined : await this.ahead.bind(threadId, given);
    const connection = bound ?? (await this.bootFor(threadId, launcher, given));
    this.log.info({ threadId, durationMs: Date.now() - startedAt, isPrepared: bound !== undefined }, 'sandbox booted');
    const ended = connection.ended.then(() => {
      this.log.info({ threadId }, 'sandbox ended');
      void this.ahead.adjust();
      return this.workspaces.diskBytes(threadId).catch(() => undefined);
    });
    this.sandboxes.track(threadId, ended);
    return connection;
  }

  private async bootFor(threadId: string, launcher: Launcher, labels: SandboxLabels): Promise<AgentConnection> {
    const workspace = await this.workspaces.open(threadId, labels);
    const shape = this.shapes.find(threadId);
    return bootAgent(launcher, { ...workspace, labels, ...(shape && { shape }) }, this.settings.bootTimeoutMs);
  }
}

/** Checks all at the same time, so that one with many files to count does not delay the others. Reads the process table once. */
async function enforceDiskQuotas(
  sandboxes: readonly HostSandbox[],
  { withinMs, log }: { readonly withinMs: number; readonly log: SandboxLog },
): Promise<void> {
  let table: ProcessTable | undefined;
  const processes = () => (table ??= readProcessTable());
  const checks = sandboxes.map(async (sandbox) => {
    const refusal = await sandbox.disk.enforce(processes);
    if (refusal !== undefined) log.warn({ threadId: sandbox.id, refusal }, 'disk quota exceeded');
  });
  await Promise.race([Promise.all(checks), delay(withinMs, undefined, { ref: false })]);
}
