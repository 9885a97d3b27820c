import type { AgentConnection } from './agent-connection';
import { DiskQuota } from './disk-quota';
import { descendantsOf } from './process-table';
import type { SandboxSettings } from './sandbox-settings';
import { workspaceUsage } from './workspace-usage';

interface DiskParts {
  readonly directory: () => string;
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

  /** Somebody is about to write. */
  mayChange(): void {
    this.changed = true;
  }

  /** Why nothing may be written. What was over the quota is measured anew, since something may have been deleted. */
  async refusal(): Promise<string | undefined> {
    if (this.quota.refusal !== undefined) await this.measure(await this.parts.awake());
    return this.quota.refusal;
  }

  /** Resolves to why the sandbox was stopped, if it was. */
  enforce(): Promise<string | undefined> {
    this.enforcing ??= this.look().finally(() => (this.enforcing = undefined));
    return this.enforcing;
  }

  private async look(): Promise<string | undefined> {
    const connection = performance.now() < this.restUntilMs ? undefined : await this.parts.awake();
    if (!connection || !this.mayHaveChanged(connection)) return undefined;

    const startedAt = performance.now();
    await this.measure(connection);
    this.restUntilMs = performance.now() + restPerMeasuring * (performance.now() - startedAt);
    const { refusal } = this.quota;
    if (refusal === undefined || !isBusy(connection)) return undefined; // the agent alone is deleting, say
    await this.parts.stop(refusal);
    return refusal;
  }

  /** Nothing changes in a sandbox in which nobody but the agent lives, unless it was asked to. */
  private mayHaveChanged(connection: AgentConnection): boolean {
    const isDue = isBusy(connection) || this.changed;
    this.changed = isBusy(connection);
    return isDue;
  }

  private async measure(connection: AgentConnection | undefined): Promise<void> {
    const pids = connection ? processesOf(connection) : [];
    this.quota.measured(
      await workspaceUsage(this.parts.directory(), { pids, agent: connection?.runProcesses?.own.agent }),
    );
  }
}

const isBusy = (connection: AgentConnection): boolean =>
  connection.runProcesses === undefined || processesOf(connection).length > 0;

/** All but the agent. */
function processesOf({ runProcesses }: AgentConnection): number[] {
  if (!runProcesses) return [];
  const { init, agent } = runProcesses.own;
  return descendantsOf(init)
    .map(({ pid }) => pid)
    .filter((pid) => pid !== agent);
}
