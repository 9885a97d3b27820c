const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const listFolders = (parent) => readdirSync(join(__dirname, parent)).map((name) => `${parent}/${name}`);

/** All projects that have tests. `--selectProjects` takes their display names. */
module.exports = {
  projects: ['apps', 'libs']
    .flatMap(listFolders)
    .filter((project) => existsSync(join(__dirname, project, 'jest.config.cjs'))),
  testTimeout: require('./jest.preset.cjs').testTimeout, // That of a project holds only where it is run alone.
  testSequencer: join(__dirname, 'deploy/local/tests/slowest-first.cjs'),
  workerIdleMemoryLimit: '1GB', // A worker keeps something of each spec; at 3 GB it does little but collect garbage.
};
