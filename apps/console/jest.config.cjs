const client = require('../../libs/client/jest.config.cjs');
const preset = require('../../jest.preset.cjs');

const [[, [swc, options]]] = Object.entries(preset.transform);
const jsx = {
  ...options.jsc,
  parser: { syntax: 'typescript', tsx: true },
  transform: { react: { runtime: 'automatic' } },
};

module.exports = {
  ...preset,
  displayName: 'console',
  testMatch: ['<rootDir>/src/**/*.spec.{ts,tsx}'],
  moduleFileExtensions: ['tsx', ...preset.moduleFileExtensions],
  transform: { ...preset.transform, '^.+\\.tsx$': [swc, { ...options, jsc: jsx }] },
  /** The DOM of tests and what reads Markdown are ES modules. */
  transformIgnorePatterns: client.transformIgnorePatterns.map((pattern) => pattern.replace('(?!(', '(?!(marked|')),
};
