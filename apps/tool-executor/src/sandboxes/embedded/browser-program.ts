import { basename, dirname, join } from 'node:path';
import { isShown } from './host-programs';
import { shownBrowser } from '../provider/sandbox-settings';
import type { ShownProgram } from './node-program';

const insideDirectory = '/opt/browser';

/** A browser among the programs of the host is visible in every sandbox. From elsewhere its whole directory is mounted, which has its libraries too. */
export function browserProgram(path: string | undefined): ShownProgram {
  if (path === undefined) return { shown: [], links: [] };
  if (isShown(path)) return { shown: [], links: [{ path: shownBrowser, target: path }] };
  return {
    shown: [{ from: dirname(path), to: insideDirectory }],
    links: [{ path: shownBrowser, target: join(insideDirectory, basename(path)) }],
  };
}
