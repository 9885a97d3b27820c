import type { SandboxSettings } from '../../sandbox-settings';
import type { Usage } from './workspace-usage';

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
