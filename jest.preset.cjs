const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const swc = JSON.parse(readFileSync(join(__dirname, '.swcrc'), 'utf8'));

/** Every project's jest configuration: SWC compiles, libraries resolve to their source through the `@rondo/source` condition. */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/src/**/*.spec.ts'],
  setupFiles: ['reflect-metadata'],
  transform: { '^.+\\.[jt]s$': ['@swc/jest', { ...swc, swcrc: false, sourceMaps: 'inline' }] },
  testEnvironmentOptions: { customExportConditions: ['@rondo/source', 'node', 'node-addons'] },
};
