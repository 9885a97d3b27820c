const preset = require('../../jest.preset.cjs');

module.exports = {
  ...preset,
  displayName: 'bench',
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/src/**/*.e2e-spec.ts'],
};
