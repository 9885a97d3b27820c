const preset = require('../../jest.preset.cjs');

const [[, compile]] = Object.entries(preset.transform);

/** The specs of this folder are in few files, unless the caller chooses files. */
const choosesFiles = process.argv.some((argument) => /^--?(testPathPatterns|runTestsByPath)/.test(argument));
const ignored = choosesFiles ? '/src/ordinary[^/]*\\.e2e-spec' : '/src/ordinary/';

/** Whole-system tests: real processes, one after the other. They start them as `npm start` does, by deploy/local. */
module.exports = {
  ...preset,
  displayName: 'e2e',
  testPathIgnorePatterns: ['/node_modules/', ignored],
  testMatch: ['<rootDir>/src/**/*.e2e-spec.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '^.+\\.(ts|js|mjs)$': compile },
  testTimeout: 120_000,
};
