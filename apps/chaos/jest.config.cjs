const preset = require('../../jest.preset.cjs');

const [[, compile]] = Object.entries(preset.transform);

/** The small campaign starts whole deployments, one after the other. */
module.exports = {
  ...preset,
  displayName: 'chaos',
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/src/**/*.e2e-spec.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '^.+\\.(ts|js|mjs)$': compile },
  testTimeout: 300_000,
};
