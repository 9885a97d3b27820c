const preset = require('../../jest.preset.cjs');

/** The bench starts a whole installation. */
module.exports = {
  ...preset,
  displayName: 'bench',
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/src/**/*.e2e-spec.ts'],
  testTimeout: 120_000,
};
