const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const swc = JSON.parse(readFileSync(join(__dirname, '.swcrc'), 'utf8'));

/** Prisma's client loads its query compiler with `import()`, which jest cannot do; compiled to `require` it can. */
const transform = { ...swc, swcrc: false, sourceMaps: 'inline', module: { ...swc.module, ignoreDynamic: false } };

/** Every project's jest configuration: SWC compiles, libraries resolve to their source through the `@rondo/source` condition. */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/src/**/*.spec.ts'],
  setupFiles: ['reflect-metadata'],
  testTimeout: 300_000, // a bound for what hangs, on slow machines too; no test is about time
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  transform: { '^.+\\.(ts|js|mjs)$': ['@swc/jest', transform] }, // scripts of deploy/local, too
  /** These packages have only ES modules, which jest must compile. */
  transformIgnorePatterns: ['/node_modules/(?!(?:jose/|ai[56]?/|@ai-sdk/|@workflow/|zod/v4/.*\\.js$))'],
  testEnvironmentOptions: { customExportConditions: ['@rondo/source', 'node', 'node-addons'] },
};
