import type { Isolation } from './prepare-isolation';
import type { ProbeResult } from '../../sandbox';
import type { SandboxLog } from '../../sandbox-log';

export interface IsolationOptions {
  readonly prepare: () => Promise<Isolation>;
  /** What did not work is not tried again for so long. */
  readonly probeAgainMs: number;
  readonly log: SandboxLog;
}

/**
 * How sandboxes are isolated on this host, found out when it is first asked for, by one trial at a time. What works is kept
 * for good. What does not is tried again when it is asked for later: an operator may have mended the host.
 */
export class IsolationOnDemand {
  private found: Promise<Isolation> | undefined;
  private announced: string | undefined;

  constructor(private readonly options: IsolationOptions) {}

  get(): Promise<Isolation> {
    this.found ??= this.find();
    return this.found;
  }

  /** Takes away what it has put on this host. Nobody may ask any more. */
  async close(): Promise<void> {
    const isolation = await this.found?.catch(() => undefined);
    await isolation?.remove();
  }

  private async find(): Promise<Isolation> {
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

  /** Once, until it changes. The words of a failure do not count: they name files that were made for the trial. */
  private announce(result: ProbeResult): void {
    const { log } = this.options;
    const news = JSON.stringify({ ...result, reason: undefined, diskReason: undefined });
    if (news === this.announced) return;
    this.announced = news;
    if (!result.usable) log.warn(result, 'sandboxes unavailable');
    else if (result.warning !== undefined)
      log.warn(result, 'sandboxes available WITHOUT LIMITS of memory and processes');
    else if (result.isolation === 'none') log.warn(result, 'commands run WITHOUT ISOLATION on this host');
    else log.info(result, 'sandboxes available');
  }
}
