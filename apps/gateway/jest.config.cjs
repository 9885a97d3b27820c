/** jose has only ES modules, which jest must compile. */
module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'gateway',
  transformIgnorePatterns: ['/node_modules/(?!jose/)'],
};
