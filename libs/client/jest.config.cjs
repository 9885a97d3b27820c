const preset = require('../../jest.preset.cjs');

/** The DOM that the React hook is tested in needs these, which are ES modules. */
const modules = [
  'css-select',
  'css-what',
  'domelementtype',
  'domhandler',
  'dom-serializer',
  'domutils',
  'entities',
  'cssomnom',
];

module.exports = {
  ...preset,
  displayName: 'client',
  transformIgnorePatterns: [`/node_modules/(?!(${modules.join('|')}|boolbase|nth-check|htmlparser2|linkedom)/)`],
};
