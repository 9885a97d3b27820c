import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const insideHome = '/opt/node';

export interface Shown {
  readonly from: string;
  readonly to: string;
}

/** Node as sandboxes see it. */
export interface NodeProgram {
  readonly path: string;
  /** What is shown of the host besides /usr. */
  readonly shown: readonly Shown[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

/**
 * Node in /usr is in every sandbox anyway. From elsewhere only the program itself is shown, the libraries that were
 * installed with it, and npm: what else lies beside it may be anything, even a home directory.
 */
export function nodeProgram(execPath = process.execPath): NodeProgram {
  if (execPath.startsWith('/usr/')) return { path: execPath, shown: [], links: [] };

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

const inHome = (home: string, path: string): Shown => ({ from: join(home, path), to: `${insideHome}/${path}` });

/** Names of the libraries that this very process has loaded from there. */
function librariesIn(directory: string): string[] {
  const { sharedObjects } = process.report.getReport() as { sharedObjects?: readonly string[] }; // Node's documented report.
  return (sharedObjects ?? [])
    .filter((path) => dirname(path) === directory)
    .map((path) => path.slice(directory.length + 1));
}
