import { dirname, join, sep } from 'node:path';

const mebibyte = 1024 * 1024;
const modulesFolder = `${sep}node_modules${sep}`;

interface ChildNeeds {
  readonly memoryBytes: number;
  readonly addons?: boolean;
  /** It makes code from its input, by a library that knows how to. */
  readonly generatesCode?: boolean;
}

/**
 * Options of a process that reads hostile input: no code from strings unless it needs that, no further processes, and no
 * files but its own code and its libraries, so that even a parser that is taken over cannot read the executor's environment
 * in /proc.
 */
export function nodeOptions({ memoryBytes, addons = false, generatesCode = false }: ChildNeeds): string[] {
  const heap = Math.floor((memoryBytes * 0.7) / mebibyte);
  const isStable = process.allowedNodeEnvironmentFlags.has('--permission');
  return [
    `--max-old-space-size=${heap}`,
    ...(generatesCode ? [] : ['--disallow-code-generation-from-strings']),
    '--no-warnings',
    isStable ? '--permission' : '--experimental-permission',
    ...readablePaths().map((path) => `--allow-fs-read=${path}`),
    ...(addons ? ['--allow-addons'] : []),
  ];
}

function readablePaths(): string[] {
  const library = require.resolve('linkedom');
  const libraries = library.slice(0, library.lastIndexOf(modulesFolder) + modulesFolder.length);
  const service = dirname(dirname(__dirname));
  const manifests = [dirname(libraries), service].map((folder) => join(folder, 'package.json'));
  return [libraries, join(__dirname, 'in-child', sep), ...manifests];
}
