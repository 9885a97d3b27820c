/** These packages have only ES modules, which jest must compile. */
module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'gateway',
  transformIgnorePatterns: ['/node_modules/(?!(?:jose/|ai/|@ai-sdk/|@workflow/|zod/v4/.*\\.js$))'],
};
