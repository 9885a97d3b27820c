const preset = require('../../jest.preset.cjs');

const [[, compile]] = Object.entries(preset.transform);

/** Whole-system tests: real processes, one after the other. They start them as `npm start` does, by deploy/local. */
module.exports = {
  ...preset,
  displayName: 'e2e',
  testMatch: ['<rootDir>/src/**/*.e2e-spec.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '^.+\\.(ts|js|mjs)$': compile },
  testTimeout: 120_000,
};
