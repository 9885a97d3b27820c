import type { AgentConnection } from './agent/agent-connection';
import { type ProcessTable, listDescendants } from './processes/process-table';
import type { SandboxSettings } from '../provider/sandbox-settings';
import type { Usage, Watched } from './workspaces/workspace-usage';

interface DiskParts {
  readonly usage: (watched: Watched) => Promise<Usage>;
  /** The running agent, if there is one. */
  readonly awake: () => Promise<AgentConnection | undefined>;
  /** Kills everything in the sandbox. The reason becomes the detail of the outcomes. */
  readonly stop: (reason: string) => Promise<unknown>;
}

/** After a measurement, the pause is this many times as long as the measurement took, but not so long that much can be written. */
const pausePerMeasurement = 10;
const longestPauseMs = 5_000;

/**
 * Measures the disk usage of a sandbox while its commands or background processes may write. Above its quota the whole
 * sandbox is stopped, and no command runs until enough files are deleted.
 */
export class SandboxDisk {
  private readonly quota: DiskQuota;
  private enforcing: Promise<string | undefined> | undefined;
  private changed = true;
  private pausedUntilMs = 0;

  constructor(
    settings: Pick<SandboxSettings, 'diskBytes' | 'files'>,
    private readonly parts: DiskParts,
  ) {
    this.quota = new DiskQuota(settings);
  }

  /** As last measured; undefined before that. */
  get usedBytes(): number | undefined {
    return this.quota.usedBytes;
  }

  /** Called when a command is about to write, or a file operation may have written. */
  mayChange(): void {
    this.changed = true;
  }

  /** Why nothing may be written. Above the quota it measures again, because files may have been deleted meanwhile. */
  async refusal(): Promise<string | undefined> {
    if (this.quota.refusal !== undefined) {
      const connection = await this.parts.awake();
      await this.measure(connection, connection ? listProcesses(connection) : []);
    }
    return this.quota.refusal;
  }

  /** Resolves to the reason why the sandbox was stopped, if it was. Reads `processes` only when it is needed. */
  enforce(processes: () => ProcessTable): Promise<string | undefined> {
    this.enforcing ??= this.measureIfDue(processes).finally(() => (this.enforcing = undefined));
    return this.enforcing;
  }

  private async measureIfDue(processes: () => ProcessTable): Promise<string | undefined> {
    const connection = performance.now() < this.pausedUntilMs ? undefined : await this.parts.awake();
    if (!connection) return undefined;
    const pids = listProcesses(connection, processes());
    if (!this.mayHaveChanged(connection, pids)) return undefined;

    const startedAt = performance.now();
    await this.measure(connection, pids);
    const tookMs = performance.now() - startedAt;
    this.pausedUntilMs = performance.now() + Math.min(longestPauseMs, pausePerMeasurement * tookMs);
    const { refusal } = this.quota;
    if (refusal === undefined || !isBusy(connection, listProcesses(connection))) return undefined; // Only the agent runs, and it may be deleting.
    await this.parts.stop(refusal);
    return refusal;
  }

  /** In a sandbox without processes but the agent, files change only at a request. */
  private mayHaveChanged(connection: AgentConnection, pids: readonly number[]): boolean {
    const busy = isBusy(connection, pids);
    const isDue = busy || this.changed;
    this.changed = busy;
    return isDue;
  }

  private async measure(connection: AgentConnection | undefined, pids: readonly number[]): Promise<void> {
    this.quota.setUsage(await this.parts.usage({ pids, agent: connection?.runProcesses?.own.agent }));
  }
}

const isBusy = ({ runProcesses }: AgentConnection, pids: readonly number[]): boolean =>
  runProcesses === undefined || pids.length > 0;

/** All processes but the agent. Reads a new process table when none is passed. */
function listProcesses({ runProcesses }: AgentConnection, table?: ProcessTable): number[] {
  if (!runProcesses) return [];
  const { init, agent } = runProcesses.own;
  return listDescendants(init, table)
    .map(({ pid }) => pid)
    .filter((pid) => pid !== agent);
}

const mebibyte = 1024 * 1024;

/** Whether a sandbox may write, according to the last measurement. */
export class DiskQuota {
  private used: Usage = { bytes: 0, files: 0 };
  private isMeasured = false;

  constructor(private readonly settings: Pick<SandboxSettings, 'diskBytes' | 'files'>) {}

  setUsage(used: Usage): void {
    this.used = used;
    this.isMeasured = true;
  }

  get usedBytes(): number | undefined {
    return this.isMeasured && Number.isFinite(this.used.bytes) ? this.used.bytes : undefined;
  }

  /** Why nothing may be written and no command run, for the model to read. Undefined below the quota. */
  get refusal(): string | undefined {
    const { diskBytes, files } = this.settings;
    if (this.used.bytes > diskBytes) return over(`its disk quota of ${Math.floor(diskBytes / mebibyte)} MiB`);
    return this.used.files > files ? over(`its quota of ${files} files`) : undefined;
  }
}

const over = (what: string): string =>
  `The workspace is over ${what}. Delete files with delete_file: as soon as enough is gone, it can be written to again ` +
  `and commands run again.`;
