import tseslint from 'typescript-eslint';
import rondo from '../../../eslint.config.mjs';

/** Without the rules that need types: for a few files, by hand. `npm test` applies all rules by oxlint (lint.mjs); an editor has all of them, too. */
export default [
  ...rondo,
  tseslint.configs.disableTypeChecked,
  { linterOptions: { reportUnusedDisableDirectives: 'off' } }, // what they disable may need types
];
