import { basename, dirname, join } from 'node:path';
import { browserInSandbox } from '../../sandbox';
import type { ShownProgram } from './node-program';

const insideDirectory = '/opt/browser';

/** A browser in /usr is visible in every sandbox. From elsewhere its whole directory is mounted, which has its libraries too. */
export function browserProgram(path: string | undefined): ShownProgram {
  if (path === undefined) return { shown: [], links: [] };
  if (path.startsWith('/usr/')) return { shown: [], links: [{ path: browserInSandbox, target: path }] };
  return {
    shown: [{ from: dirname(path), to: insideDirectory }],
    links: [{ path: browserInSandbox, target: join(insideDirectory, basename(path)) }],
  };
}
