import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isReachableByAnyone } from './reachable-path';
import type { RuntimeDirectory } from './runtime-directory';

/**
 * Ways around directories that the user of a sandbox may not walk through (a checkout under /root, a private data
 * directory): before we give up being root, the directory is shown at another place, for this sandbox alone.
 */
export class BindMounts {
  /** Each directory or file, followed by where to show it. */
  readonly pairs: string[] = [];

  constructor(
    private readonly runtime: RuntimeDirectory,
    private readonly uid: number | undefined,
  ) {}

  to(path: string): string {
    if (this.uid === undefined || isReachableByAnyone(path)) return path;
    const isDirectory = statSync(path).isDirectory();
    const shownAt = join(this.runtime.path, `detour-${this.pairs.length / 2}${isDirectory ? '' : '-file'}`);
    if (isDirectory) mkdirSync(shownAt, { recursive: true });
    else writeFileSync(shownAt, '', { flag: 'a' });
    this.pairs.push(path, shownAt);
    return shownAt;
  }
}
