import type { SandboxSettings } from './sandbox-settings';

const mebibyte = 1024 * 1024;

/** Whether a workspace may grow, as it was when somebody measured it last. */
export class DiskQuota {
  private usedBytes = 0;

  constructor(private readonly settings: Pick<SandboxSettings, 'diskBytes' | 'diskCheckMs'>) {}

  measured(usedBytes: number): void {
    this.usedBytes = usedBytes;
  }

  /** Why nothing may be written, for the model to read; undefined where there is room. */
  get refusal(): string | undefined {
    const { diskBytes, diskCheckMs } = this.settings;
    if (this.usedBytes <= diskBytes) return undefined;
    return (
      `The workspace is over its disk quota of ${Math.floor(diskBytes / mebibyte)} MiB. ` +
      `Delete files: it can be written to again within ${Math.ceil(diskCheckMs / 1000)} s of that.`
    );
  }
}
