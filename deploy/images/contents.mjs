/** Nest loads it where a service has not chosen another driver. */
const httpOfNest = ['@nestjs/platform-express'];

/**
 * @typedef {object} ImageContents
 * @property {'runtime' | 'sandbox-runtime'} system the stage of deploy/Dockerfile that it is based on
 * @property {string} [project]
 * @property {string} [module]
 * @property {readonly string[]} [packages]
 * @property {readonly string[]} [paths]
 */

/**
 * What each image contains, by the name of its target in deploy/Dockerfile, on one of the two systems that the Dockerfile makes:
 *
 *   project  a service: its build, the libraries that it imports, and the packages that both need
 *   module   a script, with the modules and the packages that it imports
 *   packages what is loaded by a name that is in no import of it
 *   paths    files and folders that no import names
 *
 * @type {Readonly<Record<string, ImageContents>>}
 */
export const images = {
  gateway: { system: 'runtime', project: 'apps/gateway', paths: ['apps/console/dist'] },
  'agent-worker': { system: 'runtime', project: 'apps/agent-worker', packages: httpOfNest },
  summarizer: { system: 'runtime', project: 'apps/summarizer', packages: httpOfNest },
  'tool-executor': { system: 'sandbox-runtime', project: 'apps/tool-executor', packages: httpOfNest },
  'demo-model': { system: 'runtime', project: 'apps/demo-model' },
  migrations: {
    system: 'runtime',
    module: 'deploy/migrate.mjs',
    paths: ['prisma/migrations', 'prisma/grants.json', 'deploy/released-version.json'],
  },
  cli: { system: 'runtime', paths: ['apps/cli/bin', 'apps/cli/dist', 'apps/cli/package.json'] },
};

/** What only tests and compilers read. Licenses stay. */
const notNeeded = /\.(map|[cm]?ts|tsbuildinfo)$|(^|\/)(testing|__fixtures__)\//;

/**
 * Of a package: also what explains it, the query compilers of Prisma for other databases and other module formats, and the
 * vocabularies of js-tiktoken that no counter of tokens loads.
 */
const notNeededOfPackages = new RegExp(
  [
    /\.(map|[cm]?ts|md|markdown)$/,
    /runtime\/query_compiler_(?!fast_bg\.postgresql\.(wasm-base64\.)?js$)/,
    /js-tiktoken\/dist\/(index\.|ranks\/(?!(cl100k|o200k)_base\.cjs$))/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

export const isNeeded = (path) => !notNeeded.test(path);
export const isNeededOfPackage = (path) => !notNeededOfPackages.test(path);
