const preset = require('../../jest.preset.cjs');

const [[, compile]] = Object.entries(preset.transform);

/** A spec that kills its server starts one of its own, as `npm start` does, by deploy/local. */
module.exports = {
  ...preset,
  displayName: 'messaging',
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '^.+\\.(ts|js|mjs)$': compile },
};
