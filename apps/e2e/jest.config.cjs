/** Whole-system tests: real processes, one after the other. */
module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'e2e',
  testMatch: ['<rootDir>/src/**/*.e2e-spec.ts'],
  testTimeout: 120_000,
  maxWorkers: 1,
};
