import type { AgentConnection } from '../agent/agent-connection';
import { type ProcessTable, descendantsOf } from '../commands/process-table';
import type { SandboxSettings } from '../../sandbox-settings';
import type { Usage, Watched } from './workspace-usage';

interface DiskParts {
  readonly usage: (watched: Watched) => Promise<Usage>;
  /** The agent, where one is up. */
  readonly awake: () => Promise<AgentConnection | undefined>;
  /** Ends everything in the sandbox, for a reason that the outcomes will tell. */
  readonly stop: (reason: string) => Promise<unknown>;
}

/** Measuring takes no more than this share of the time. */
const restPerMeasuring = 10;

/**
 * Watches what a sandbox writes, by commands that run and by what they have left in the background. Over its quota the whole
 * sandbox stops, and no command runs until enough was deleted.
 */
export class SandboxDisk {
  private readonly quota: DiskQuota;
  private enforcing: Promise<string | undefined> | undefined;
  private changed = true;
  private restUntilMs = 0;

  constructor(
    settings: Pick<SandboxSettings, 'diskBytes' | 'files'>,
    private readonly parts: DiskParts,
  ) {
    this.quota = new DiskQuota(settings);
  }

  /** A command or a tool is about to write. */
  mayChange(): void {
    this.changed = true;
  }

  /** Why nothing may be written. What was over the quota is measured anew, since something may have been deleted. */
  async refusal(): Promise<string | undefined> {
    if (this.quota.refusal !== undefined) {
      const connection = await this.parts.awake();
      await this.measure(connection, connection ? processesOf(connection) : []);
    }
    return this.quota.refusal;
  }

  /** Resolves to why the sandbox was stopped, if it was. `processes` is asked for only where there is something to look at. */
  enforce(processes: () => ProcessTable): Promise<string | undefined> {
    this.enforcing ??= this.look(processes).finally(() => (this.enforcing = undefined));
    return this.enforcing;
  }

  private async look(processes: () => ProcessTable): Promise<string | undefined> {
    const connection = performance.now() < this.restUntilMs ? undefined : await this.parts.awake();
    if (!connection) return undefined;
    const pids = processesOf(connection, processes());
    if (!this.mayHaveChanged(connection, pids)) return undefined;

    const startedAt = performance.now();
    await this.measure(connection, pids);
    this.restUntilMs = performance.now() + restPerMeasuring * (performance.now() - startedAt);
    const { refusal } = this.quota;
    if (refusal === undefined || !isBusy(connection, processesOf(connection))) return undefined; // the agent alone is deleting, say
    await this.parts.stop(refusal);
    return refusal;
  }

  /** Nothing changes in a sandbox in which the agent is the only process, unless it was asked to. */
  private mayHaveChanged(connection: AgentConnection, pids: readonly number[]): boolean {
    const busy = isBusy(connection, pids);
    const isDue = busy || this.changed;
    this.changed = busy;
    return isDue;
  }

  private async measure(connection: AgentConnection | undefined, pids: readonly number[]): Promise<void> {
    this.quota.measured(await this.parts.usage({ pids, agent: connection?.runProcesses?.own.agent }));
  }
}

const isBusy = ({ runProcesses }: AgentConnection, pids: readonly number[]): boolean =>
  runProcesses === undefined || pids.length > 0;

/** All but the agent; without a table, as they are now. */
function processesOf({ runProcesses }: AgentConnection, table?: ProcessTable): number[] {
  if (!runProcesses) return [];
  const { init, agent } = runProcesses.own;
  return descendantsOf(init, table)
    .map(({ pid }) => pid)
    .filter((pid) => pid !== agent);
}

const mebibyte = 1024 * 1024;

/** Whether a sandbox may write, as of the last measurement. */
export class DiskQuota {
  private used: Usage = { bytes: 0, files: 0 };

  constructor(private readonly settings: Pick<SandboxSettings, 'diskBytes' | 'files'>) {}

  measured(used: Usage): void {
    this.used = used;
  }

  /** Why nothing may be written and no command run, for the model to read; undefined where there is room. */
  get refusal(): string | undefined {
    const { diskBytes, files } = this.settings;
    if (this.used.bytes > diskBytes) return over(`its disk quota of ${Math.floor(diskBytes / mebibyte)} MiB`);
    return this.used.files > files ? over(`its quota of ${files} files`) : undefined;
  }
}

const over = (what: string): string =>
  `The workspace is over ${what}. Delete files with delete_file: as soon as enough is gone, it can be written to again ` +
  `and commands run again.`;
