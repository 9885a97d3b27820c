const client = require('../client/jest.config.cjs');

const [[, [swc, options]]] = Object.entries(client.transform);
const jsx = {
  ...options.jsc,
  parser: { syntax: 'typescript', tsx: true },
  transform: { react: { runtime: 'automatic' } },
};

module.exports = {
  ...client,
  displayName: 'react',
  testMatch: ['<rootDir>/src/**/*.spec.{ts,tsx}'],
  moduleFileExtensions: ['tsx', ...client.moduleFileExtensions],
  transform: { ...client.transform, '^.+\\.tsx$': [swc, { ...options, jsc: jsx }] },
};
