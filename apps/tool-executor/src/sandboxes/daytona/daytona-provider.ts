import type { EgressGate, EgressGates } from '../egress/egress-gate';
import type { EndedCommand, Sandbox } from '../provider/sandbox';
import { LiveSandboxes } from '../provider/live-sandboxes';
import { SandboxError } from '../provider/sandbox-error';
import {
  type AwakeSandbox,
  labelsIn,
  type ListedSandbox,
  type ListedState,
  type PreparedCounts,
  type ProbeResult,
  type SandboxLabels,
  type SandboxLog,
  type SandboxProvider,
} from '../provider/sandbox-provider';
import { type DeletionReason, SandboxRecords } from '../provider/sandbox-records';
import type { SandboxSettings } from '../provider/sandbox-settings';
import { type SandboxShape, SandboxShapes } from '../provider/sandbox-shape';
import { requireThreadId } from '../provider/thread-ids';
import { DaytonaClient } from './daytona-client';
import { DaytonaMachines } from './daytona-machines';
import { DaytonaSandbox } from './daytona-sandbox';
import { requireDaytonaShape, sizeStep, toLargestSize } from './daytona-shape';
import type { DaytonaSettings } from '../provider/daytona-settings';

const longestIdleCheckMs = 30_000;

interface DaytonaParts {
  readonly daytona: DaytonaSettings;
  readonly log: SandboxLog;
  readonly egress: EgressGates;
}

/** Sandboxes at Daytona. Their state is there and in their labels, so any executor with the same account reaches them. */
export class DaytonaProvider implements SandboxProvider {
  readonly name = 'daytona';
  readonly affinity = 'none';
  readonly records: SandboxRecords;
  private readonly sandboxes: LiveSandboxes<DaytonaSandbox>;
  private readonly client: DaytonaClient;
  private readonly machines: DaytonaMachines;
  private readonly shapes = new SandboxShapes();
  private readonly timer: NodeJS.Timeout;
  private probed: Promise<ProbeResult> | undefined;
  private closed = false;

  constructor(
    private readonly settings: SandboxSettings,
    private readonly parts: DaytonaParts,
  ) {
    this.records = new SandboxRecords(settings.root);
    this.sandboxes = new LiveSandboxes(this.records, parts.log);
    this.client = new DaytonaClient(parts.daytona);
    const networkBlockAll = settings.egress.policy === 'none';
    this.machines = new DaytonaMachines(this.client, { log: parts.log, install: settings.install, networkBlockAll });
    const check = () => void this.stopIdle().catch((error: unknown) => this.warn(error));
    this.timer = setInterval(check, Math.min(settings.idleMs / 4, longestIdleCheckMs)).unref();
  }

  toEgress(threadId: string): EgressGate {
    return this.parts.egress.of(threadId);
  }

  findShape(threadId: string): SandboxShape | undefined {
    return this.shapes.find(threadId);
  }

  /** Files are in the sandbox at Daytona, so it is never replaced by one of another shape. Without one it stays what it is. */
  async reshape(threadId: string, shape: SandboxShape | undefined): Promise<void> {
    requireThreadId(threadId);
    if (shape && Object.keys(shape).length > 0) {
      const { image: own, resources } = this.parts.daytona;
      requireDaytonaShape(shape, { own, allowed: this.settings.images, resources });
      await this.machines.requireShape(threadId, shape);
    }
    this.shapes.set(threadId, shape);
  }

  /** Asks Daytona whether it accepts the key. A trial in a real sandbox would cost its price at every start of an executor. */
  probe(): Promise<ProbeResult> {
    this.probed ??= this.probeNow();
    return this.probed;
  }

  async get(threadId: string, labels: SandboxLabels = {}): Promise<Sandbox> {
    if (this.closed) throw new SandboxError('unavailable', 'Sandboxes are shutting down.');
    return this.sandboxes.get(threadId, () => this.newSandbox(threadId, labels));
  }

  async list(labels: Partial<SandboxLabels> = {}): Promise<ListedSandbox[]> {
    const machines = await this.machines.list(labels);
    return machines.map(({ labels: given, state, lastActivityAt }) => ({
      threadId: given['thread'] ?? '',
      labels: labelsIn(given),
      state: toState(state),
      ...(lastActivityAt !== undefined && { lastUsedAt: Date.parse(lastActivityAt) }),
    }));
  }

  async endRun(threadId: string, run: string): Promise<EndedCommand[]> {
    const known = this.sandboxes.find(threadId);
    if (known) return known.endRun(run);
    const machine = await this.machines.find(threadId);
    if (machine?.state !== 'started') return [];
    await this.get(threadId);
    return this.sandboxes.find(threadId)?.endRun(run) ?? [];
  }

  remove(threadId: string, reason?: DeletionReason): Promise<void> {
    return this.sandboxes.remove(threadId, () => this.removeNow(threadId), { reason });
  }

  /** Daytona archives a sandbox that is stopped, and starts one that is archived. */
  async archive(threadId: string): Promise<boolean> {
    requireThreadId(threadId);
    if (this.isAwake(threadId) || !(await this.machines.archive(threadId))) return false;
    await this.records.recordArchive(threadId);
    return true;
  }

  diskBytes(): undefined {
    return undefined;
  }

  awake(): AwakeSandbox[] {
    return this.sandboxes.awake();
  }

  /** None: each would have its price at the service while it waits. */
  countPrepared(): PreparedCounts {
    return { ready: 0, bound: 0 };
  }

  isAwake(threadId: string): boolean {
    return this.sandboxes.isAwake(threadId);
  }

  async putToSleep(threadId: string): Promise<void> {
    const sandbox = this.sandboxes.find(threadId);
    if (!sandbox) return;
    await sandbox.stop();
    this.sandboxes.forget(threadId);
    this.parts.egress.remove(threadId);
    this.parts.log.info({ threadId }, 'idle sandbox stopped');
  }

  stopIdle(): Promise<string[]> {
    return this.sandboxes.stopIdle((threadId) => this.putToSleep(threadId));
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    const stops = this.sandboxes.all().map((sandbox) => sandbox.stop().catch((error: unknown) => this.warn(error)));
    await Promise.all(stops);
    await this.sandboxes.close();
  }

  private async probeNow(): Promise<ProbeResult> {
    const capabilities = {
      isolation: true,
      egressPolicy: false,
      hardDisk: true,
      size: toLargestSize(this.parts.daytona.resources),
      sizeStep,
      backgroundSessions: true,
      stdin: true,
      ports: false,
      runProcesses: false,
    };
    const facts = { capabilities, details: { apiUrl: this.parts.daytona.apiUrl } };
    const tried = await this.client.attempt(async (daytona) => daytona.list({ limit: 1 }).next());
    setTimeout(() => (this.probed = undefined), this.settings.probeAgainMs).unref();
    if ('result' in tried) return { usable: true, ...facts };
    const { status, message } = tried.failure;
    const advice =
      status === 401 || status === 403
        ? 'Check DAYTONA_API_KEY: it must be valid and may create and delete sandboxes.'
        : 'Check DAYTONA_API_URL, and that this host reaches it.';
    return { usable: false, reason: `Daytona cannot be used: ${message}`, advice, ...facts };
  }

  private newSandbox(threadId: string, labels: SandboxLabels): DaytonaSandbox {
    const sandbox: DaytonaSandbox = new DaytonaSandbox(threadId, this.settings, {
      client: this.client,
      obtain: async () => {
        requireThreadId(threadId);
        this.refuseIfGone(sandbox);
        const machine = await this.machines.obtain(threadId, labels, this.shapes.find(threadId));
        this.refuseIfGone(sandbox);
        return machine;
      },
      find: () => this.machines.find(threadId),
      started: (ended) =>
        this.sandboxes.track(
          threadId,
          ended.then(() => undefined),
        ),
    });
    return sandbox;
  }

  /** Of a sandbox that was put to sleep or removed while a caller still had a reference to it: no idle check would stop it. */
  private refuseIfGone(sandbox: DaytonaSandbox): void {
    if (this.closed || !this.sandboxes.isCurrent(sandbox)) {
      throw new SandboxError('unavailable', 'The sandbox was stopped or removed meanwhile.');
    }
  }

  private async removeNow(threadId: string): Promise<void> {
    requireThreadId(threadId);
    const sandbox = this.sandboxes.find(threadId);
    sandbox?.expectRemoval();
    await sandbox?.waitForOpening(); // Else it could be created after it was looked for here.
    await this.machines.remove(threadId);
    sandbox?.shutDown();
    this.sandboxes.forget(threadId);
    this.parts.egress.forget(threadId);
    this.shapes.set(threadId, undefined);
    this.parts.log.info({ threadId }, 'sandbox removed');
  }

  private warn(error: unknown): void {
    this.parts.log.warn({ reason: error instanceof Error ? error.message : '' }, 'sandbox upkeep failed');
  }
}

function toState(state: unknown): ListedState {
  if (state === 'archived' || state === 'archiving') return 'archived';
  return state === 'started' ? 'awake' : 'asleep';
}
