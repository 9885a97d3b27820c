import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Which libraries each project may import; an import that is not listed is an error. docs/architecture.md draws it. */
const adapters = ['contract', 'domain', 'persistence', 'messaging', 'run-holder', 'platform'];
const arrows = {
  'libs/contract': [],
  'libs/client': [],
  'libs/react': ['client'],
  'libs/domain': ['contract'],
  'libs/platform': [],
  'libs/persistence': ['contract', 'domain'],
  'libs/messaging': ['contract', 'domain'],
  'libs/llm': ['contract', 'domain'],
  'libs/run-holder': ['contract', 'domain', 'persistence', 'messaging', 'platform'],
  'libs/test-deployment': ['contract'],
  'apps/gateway': adapters,
  'apps/agent-worker': [...adapters, 'llm'],
  'apps/summarizer': [...adapters, 'llm'],
  'apps/tool-executor': ['contract', 'domain', 'messaging', 'platform'],
  'apps/demo-model': ['platform'],
  'apps/simulation': ['contract', 'domain'],
  'apps/cli': ['client'],
  'apps/cli/src/resources': ['client', 'contract'], // its commands are made from the routes
  'apps/cli/src/evaluation': ['client', 'domain'], // its report is a page, whose text is escaped as elsewhere
  'apps/cli/src/replay': ['client', 'contract', 'domain'], // it runs the loop itself
  'apps/console': ['client', 'react'],
  'apps/chaos': ['client', 'contract', 'test-deployment', 'persistence/testing', 'messaging/testing'],
  'apps/bench': ['contract', 'test-deployment'],
};

/** These start whole deployments, by the scripts that `npm start` is made of. */
const startsDeployments = ['libs/test-deployment', 'apps/chaos', 'apps/bench'];

/** Packages that only one library may import. */
const owned = [
  { owner: 'libs/persistence', regex: '^(@prisma/|pg$|pg-)|/generated/', what: 'the database' },
  { owner: 'libs/messaging', regex: '^nats$', what: 'NATS' },
  { owner: 'libs/llm', regex: '^(openai|@anthropic-ai)(/|$)', what: 'model SDKs' },
];

/**
 * Matches everything but these names; one that ends with a slash stands for all that begin with it. It does without lookaheads,
 * which oxlint does not have.
 */
function allBut(names) {
  const heads = [...new Set(names.map(([head]) => head))].filter(Boolean).sort().reverse(); // a hyphen is the last of a class
  const other = heads.length === 0 ? '.' : `[^${heads.join('')}]`;
  const longer = heads.flatMap((head) => {
    const rests = names.filter((name) => name.startsWith(head)).map((name) => name.slice(1));
    return head === '/' && rests.includes('') ? [] : [`${head.replace('.', '\\.')}${allBut(rests)}`];
  });
  return `(?:${[other, ...longer, ...(names.includes('') ? [] : ['$'])].join('|')})`;
}

const toImports = (project) => {
  const libraries = arrows[project];
  const allowed = libraries.length === 0 ? 'no other project' : `only @rondo/${libraries.join(', @rondo/')}`;
  const folders = startsDeployments.includes(project) ? 'apps|libs' : 'apps|libs|deploy';
  return {
    patterns: [
      {
        regex: `^@rondo/${allBut(libraries.flatMap((name) => [name, `${name}/`]))}`,
        message: `${project} may import ${allowed}.`,
      },
      { regex: `^(\\.\\./)+((${folders})/|([^/]+/)*src/)`, message: 'Another project is imported by its name.' },
      ...owned
        .filter(({ owner }) => owner !== project)
        .map(({ owner, regex, what }) => ({ regex, message: `Only ${owner} may use ${what}.` })),
    ],
  };
};

/** Of code that runs; specs may be longer. */
const size = {
  'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 3],
};

const environment = {
  object: 'process',
  property: 'env',
  message: "The environment is read in an app's config.ts only.",
};

/** What Node gives to scripts, and CommonJS to its modules. */
const nodeGlobals = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'File',
  'FormData',
  'Headers',
  'URL',
  'WebAssembly',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
];
/** What a page has, for scripts that run in a browser; `rondo` is where they put what they define. */
const pageGlobals = [
  'document',
  'window',
  'location',
  'Element',
  'Event',
  'Node',
  'NodeFilter',
  'getComputedStyle',
  'rondo',
  'requestAnimationFrame',
];
const commonJsGlobals = ['require', 'module', 'exports', '__dirname', '__filename'];
const readOnly = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/generated/**', '.data/**'] },
  js.configs.recommended,
  { rules: size },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: tseslint.configs.strictTypeChecked,
    // One program holds all projects. `projectService` opens a program for each of them: 120 s and 4 GB instead of 45 s.
    languageOptions: { parserOptions: { project: 'tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      'no-restricted-properties': ['error', environment],
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
  {
    // It runs in browsers, so it is checked with their types and not with those of Node.
    files: ['apps/console/src/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: 'apps/console/tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    // A newer gateway may send what this page does not know.
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // It runs in browsers, too.
    files: ['libs/react/src/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: 'libs/react/tsconfig.json', tsconfigRootDir: import.meta.dirname } },
  },
  ...Object.keys(arrows).map((project) => ({
    files: [`${project}{/src,}/**/*.{ts,tsx}`],
    rules: { 'no-restricted-imports': ['error', toImports(project)] },
  })),
  {
    // What users install brings no other package with it.
    files: ['libs/client/src/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/testing/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^${allBut(['./', 'react'])}`,
              message: 'The client imports nothing but itself, and React in its hook.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['libs/react/src/**/*.{ts,tsx}'],
    ignores: ['**/*.spec.ts', '**/*.spec.tsx', '**/testing/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^${allBut(['./', 'react', '@rondo/client', '@rondo/client/react'])}`,
              message: 'It brings nothing but the client and React.',
            },
          ],
        },
      ],
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
              regex: `^${allBut(['./', '../', 'zod', '@rondo/contract'])}`,
              message: 'The core imports nothing but zod, the contract and itself.',
            },
          ],
        },
      ],
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'fetch', 'performance', 'crypto'],
      'no-restricted-properties': [
        'error',
        environment,
        { object: 'Date', property: 'now', message: 'The clock is a port.' },
        { object: 'Math', property: 'random', message: 'Randomness is a port.' },
      ],
    },
  },
  {
    // Scripts are plain JavaScript: comments name the types that other projects rely on, and nothing checks the rest.
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: { globals: readOnly(nodeGlobals) },
    rules: { 'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }] },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: readOnly(commonJsGlobals) } },
  { files: ['**/in-page/*.cjs', 'apps/console/bench/*.mjs'], languageOptions: { globals: readOnly(pageGlobals) } },
  // Simulated ports are asynchronous although nothing in them waits.
  { files: ['apps/simulation/src/*.ts'], rules: { '@typescript-eslint/require-await': 'off' } },
  // Wiring names what it injects, one parameter each.
  { files: ['**/*.module.ts'], rules: { 'max-params': 'off' } },
  {
    files: ['**/config.ts', 'prisma.config.ts', 'libs/platform/src/load-config.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['**/*.spec.{ts,tsx}', '**/*.contract.ts', '**/testing/**/*.ts', 'apps/e2e/src/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': 'off',
      'max-params': 'off', // a table's row
      'no-restricted-properties': 'off',
      'no-restricted-imports': 'off',
      'no-unsafe-optional-chaining': 'off', // a test fails also by what it throws
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
