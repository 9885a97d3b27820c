module.exports = { ...require('../../jest.preset.cjs'), displayName: 'run-holder' };
