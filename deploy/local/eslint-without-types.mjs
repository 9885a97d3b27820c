import tseslint from 'typescript-eslint';
import rondo from '../../eslint.config.mjs';

/** Without the rules that need types, which oxlint applies (lint.mjs). An editor, and `npx eslint` by hand, have all rules. */
export default [
  ...rondo,
  tseslint.configs.disableTypeChecked,
  { linterOptions: { reportUnusedDisableDirectives: 'off' } }, // what they disable may need types
];
