import type { EgressGates } from '../../egress/egress-gate';
import type { ProbeResult, SandboxLog } from '../../provider/sandbox-provider';
import type { SandboxSettings } from '../../provider/sandbox-settings';
import type { Workspaces } from '../workspaces/workspaces';
import type { Launcher } from '../agent/launcher';

/** What is needed to boot sandboxes on this host. */
export interface Isolation<Result extends ProbeResult = ProbeResult> {
  result: Result;
  /** Proven by a command that ran in a sandbox; missing where that failed. */
  launcher?: Launcher;
  /** Deletes the files that it has put on this host. */
  remove: () => Promise<void>;
}

export interface IsolationSite {
  settings: SandboxSettings;
  egress: EgressGates;
  log: SandboxLog;
  workspaces: Workspaces;
}

interface IsolationOptions<Result extends ProbeResult> {
  readonly prepare: () => Promise<Isolation<Result>>;
  /** A failed trial is not repeated for this long. */
  readonly probeAgainMs: number;
  readonly log: SandboxLog;
}

/**
 * How sandboxes are isolated on this host, found out at the first call, by one trial at a time. A success is cached for good.
 * A failure is tried again by a later call, because an operator may have repaired the host.
 */
export class IsolationOnDemand<Result extends ProbeResult> {
  private found: Promise<Isolation<Result>> | undefined;
  private announced: string | undefined;

  constructor(private readonly options: IsolationOptions<Result>) {}

  get(): Promise<Isolation<Result>> {
    this.found ??= this.find();
    return this.found;
  }

  /** Deletes the files that it has put on this host. `get` must not be called any more. */
  async close(): Promise<void> {
    const isolation = await this.found?.catch(() => undefined);
    await isolation?.remove();
  }

  private async find(): Promise<Isolation<Result>> {
    let works = false;
    try {
      const isolation = await this.options.prepare();
      works = isolation.launcher !== undefined;
      this.announce(isolation.result);
      return isolation;
    } finally {
      if (!works) setTimeout(() => (this.found = undefined), this.options.probeAgainMs).unref();
    }
  }

  /** Logs a result once, until it changes. Messages of failures are not compared: they name files made for one trial. */
  private announce(result: Result): void {
    const { usable, reason, advice, warning, details } = result;
    const key = JSON.stringify({ usable, advice, warning, details: { ...details, diskReason: undefined } });
    if (key === this.announced) return;
    this.announced = key;
    const fields = { usable, reason, advice, warning, ...details };
    const { log } = this.options;
    if (!usable) log.warn(fields, 'sandboxes unavailable');
    else if (warning !== undefined) log.warn(fields, 'sandboxes available WITHOUT LIMITS of memory and processes');
    else if (details['isolation'] === 'none') log.warn(fields, 'commands run WITHOUT ISOLATION on this host');
    else log.info(fields, 'sandboxes available');
  }
}
