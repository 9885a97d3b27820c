const preset = require('../../jest.preset.cjs');

const client = require('../../libs/client/jest.config.cjs');

const [[, compile]] = Object.entries(preset.transform);

/** What both have compiled: a page of React has the DOM of the client's specs. */
const compiled = [preset, client].map(({ transformIgnorePatterns: [all] }) =>
  all.slice('/node_modules/(?!'.length, -1),
);

/** Whole-system tests: real processes, one after the other. They start them as `npm start` does, by deploy/local. */
module.exports = {
  ...preset,
  displayName: 'e2e',
  testMatch: ['<rootDir>/src/**/*.e2e-spec.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transformIgnorePatterns: [`/node_modules/(?!${compiled.join('|')})`],
  transform: { '^.+\\.(ts|js|mjs)$': compile },
  testTimeout: 300_000,
};
