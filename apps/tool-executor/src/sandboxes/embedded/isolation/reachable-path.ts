import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Whether every user may walk to this path, as the user of a sandbox must. Directories such as /root stand in the way. */
export function isReachableByAnyone(path: string): boolean {
  for (let directory = dirname(resolve(path)); ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}
