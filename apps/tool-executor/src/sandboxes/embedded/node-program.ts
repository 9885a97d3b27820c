import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isShown } from './host-programs';

const insideHome = '/opt/node';

export interface MountedPath {
  readonly from: string;
  readonly to: string;
}

/** How a program of the host appears inside sandboxes. */
export interface ShownProgram {
  /** The host's paths that are mounted besides /usr. */
  readonly shown: readonly MountedPath[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

export interface NodeProgram extends ShownProgram {
  readonly path: string;
}

/**
 * Node among the programs of the host is visible in every sandbox. From elsewhere only the program itself, the libraries installed with it, and npm
 * are mounted: its directory may contain anything else, and could even be a home directory.
 */
export function nodeProgram(execPath = process.execPath): NodeProgram {
  if (isShown(execPath)) return { path: execPath, shown: [], links: [] };

  const home = dirname(dirname(execPath));
  const path = `${insideHome}/bin/node`;
  const program = { from: execPath, to: path };
  const libraries = librariesIn(join(home, 'lib')).map((name) => inHome(home, `lib/${name}`));
  const hasNpm = existsSync(join(home, 'lib/node_modules/npm/bin/npm-cli.js'));
  if (!hasNpm) return { path, shown: [program, ...libraries], links: [] };

  const links = ['npm', 'npx'].map((name) => ({
    path: `${insideHome}/bin/${name}`,
    target: `../lib/node_modules/npm/bin/${name}-cli.js`,
  }));
  return { path, shown: [program, ...libraries, inHome(home, 'lib/node_modules/npm')], links };
}

const inHome = (home: string, path: string): MountedPath => ({ from: join(home, path), to: `${insideHome}/${path}` });

/** Names of the libraries that this process has loaded from the directory. */
function librariesIn(directory: string): string[] {
  const { sharedObjects } = process.report.getReport() as { sharedObjects?: readonly string[] }; // Node's documented report.
  return (sharedObjects ?? [])
    .filter((path) => dirname(path) === directory)
    .map((path) => path.slice(directory.length + 1));
}
