module.exports = { ...require('../../jest.preset.cjs'), displayName: 'agent-worker' };
