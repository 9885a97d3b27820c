import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

/** Which project may import which. An import that is not listed here is an error; see docs/architecture.md. */
const arrows = [
  { sourceTag: 'contract', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'domain', onlyDependOnLibsWithTags: ['contract'] },
  { sourceTag: 'platform', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'persistence', onlyDependOnLibsWithTags: ['contract', 'domain'] },
  { sourceTag: 'messaging', onlyDependOnLibsWithTags: ['contract', 'domain'] },
  { sourceTag: 'llm', onlyDependOnLibsWithTags: ['contract', 'domain'] },
  {
    sourceTag: 'run-holder',
    onlyDependOnLibsWithTags: ['contract', 'domain', 'persistence', 'messaging', 'platform'],
  },
  {
    sourceTag: 'app:gateway',
    onlyDependOnLibsWithTags: ['contract', 'domain', 'persistence', 'messaging', 'run-holder', 'platform'],
  },
  {
    sourceTag: 'app:agent-worker',
    onlyDependOnLibsWithTags: ['contract', 'domain', 'persistence', 'messaging', 'run-holder', 'llm', 'platform'],
  },
  {
    sourceTag: 'app:summarizer',
    onlyDependOnLibsWithTags: ['contract', 'domain', 'persistence', 'messaging', 'run-holder', 'llm', 'platform'],
  },
  { sourceTag: 'app:tool-executor', onlyDependOnLibsWithTags: ['contract', 'domain', 'messaging', 'platform'] },
  { sourceTag: 'app:demo-model', onlyDependOnLibsWithTags: ['platform'] },
  { sourceTag: 'test-deployment', onlyDependOnLibsWithTags: ['contract'] },
  { sourceTag: 'app:simulation', onlyDependOnLibsWithTags: ['contract', 'domain'] },
  { sourceTag: 'app:e2e', onlyDependOnLibsWithTags: ['contract', 'test-deployment'] },
  { sourceTag: 'app:chaos', onlyDependOnLibsWithTags: ['contract', 'test-deployment'] },
  { sourceTag: 'app:bench', onlyDependOnLibsWithTags: ['contract', 'test-deployment'] },
];

const boundaries = { allow: [], depConstraints: arrows, enforceBuildableLibDependency: false };

/** Packages that only one library may import. */
const owned = [
  { owner: 'libs/persistence', regex: '^(@prisma/|pg$|pg-)|/generated/', what: 'the database' },
  { owner: 'libs/messaging', regex: '^nats$', what: 'NATS' },
  { owner: 'libs/llm', regex: '^(openai|@anthropic-ai)(/|$)', what: 'model SDKs' },
];

const onlyTheirOwners = (project) => ({
  patterns: owned
    .filter(({ owner }) => owner !== project)
    .map(({ owner, regex, what }) => ({ regex, message: `Only ${owner} may use ${what}.` })),
});

const projects = [
  'libs/contract',
  'libs/domain',
  'libs/platform',
  'libs/run-holder',
  'libs/test-deployment',
  ...owned.map(({ owner }) => owner),
  'apps/*',
];

/** Of code that runs; specs may be longer. */
const size = {
  'max-lines': ['error', { max: 200, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 3],
};

/** What Node gives to scripts, and CommonJS to its modules. */
const nodeGlobals = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'Headers',
  'URL',
  'WebAssembly',
  'clearInterval',
  'clearTimeout',
  'console',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
];
const commonJsGlobals = ['require', 'module', '__dirname'];
const readOnly = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/generated/**', '.data/**', '**/*.d.mts'] },
  js.configs.recommended,
  { rules: size },
  {
    files: ['**/*.ts'],
    extends: tseslint.configs.strictTypeChecked,
    // One program holds all projects. `projectService` opens a program for each of them: 120 s and 4 GB instead of 45 s.
    languageOptions: { parserOptions: { project: 'tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': ['error', boundaries],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: "The environment is read in an app's config.ts only." },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.object.name='AbortSignal'][callee.property.name='any'] CallExpression[callee.property.name='timeout']",
          message: 'Node 20 garbage-collects a timeout that nothing else refers to: use anySignal.',
        },
      ],
      'no-console': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { allowDefaultCaseForExhaustiveSwitch: false }],
      '@typescript-eslint/no-extraneous-class': 'off', // Nest modules are classes without members
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off', // Nest takes its options as plain objects
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/prefer-promise-reject-errors': 'off', // an abort's reason may be any value
    },
  },
  ...projects.map((project) => ({
    files: [`${project}/src/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', onlyTheirOwners(project)] },
  })),
  {
    // These start whole deployments, by the scripts that `npm start` is made of.
    files: ['libs/test-deployment/src/**/*.ts', 'apps/chaos/src/**/*.ts', 'apps/bench/src/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': ['error', { ...boundaries, allow: ['^(\\.\\./)+deploy/local/'] }],
    },
  },
  {
    // The bench measures against the SDK as it is.
    files: ['apps/bench/src/bare/*.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
  {
    // The core is pure: no clock, no randomness, no network, no process.
    files: ['libs/contract/src/**/*.ts', 'libs/domain/src/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.contract.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(?!\\.{1,2}/|zod$|@rondo/contract$)',
              message: 'The core imports nothing but zod, the contract and itself.',
            },
          ],
        },
      ],
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'fetch', 'performance', 'crypto'],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'The clock is a port.',
        },
        {
          selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
          message: 'Randomness is a port.',
        },
      ],
    },
  },
  {
    // Scripts are plain JavaScript, without types to check.
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: { globals: readOnly(nodeGlobals) },
    rules: { 'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }] },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: readOnly(commonJsGlobals) } },
  // Simulated ports are asynchronous although nothing in them waits.
  { files: ['apps/simulation/src/*.ts'], rules: { '@typescript-eslint/require-await': 'off' } },
  // Wiring names what it injects, one parameter each.
  { files: ['**/*.module.ts'], rules: { 'max-params': 'off' } },
  {
    files: ['**/config.ts', 'prisma.config.ts', 'libs/platform/src/load-config.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['**/*.spec.ts', '**/*.contract.ts', '**/testing/**/*.ts', 'apps/e2e/src/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': 'off',
      'max-params': 'off', // a table's row
      'no-restricted-properties': 'off',
      'no-restricted-imports': 'off',
      '@nx/enforce-module-boundaries': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
);
