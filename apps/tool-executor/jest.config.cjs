module.exports = { ...require('../../jest.preset.cjs'), displayName: 'tool-executor' };
