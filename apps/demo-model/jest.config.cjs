module.exports = { ...require('../../jest.preset.cjs'), displayName: 'demo-model' };
