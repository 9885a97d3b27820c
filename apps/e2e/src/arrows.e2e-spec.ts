import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../..');

/** A project, an import added to one of its files, and whether that is allowed. */
const planted = [
  ['apps/tool-executor', '@rondo/persistence', 'refused'],
  ['apps/tool-executor', '@rondo/llm', 'refused'],
  ['libs/client', '@rondo/contract', 'refused'],
  ['libs/client', 'zod', 'refused'],
  ['libs/react', '@rondo/client', 'allowed'],
  ['libs/react', '@rondo/contract', 'refused'],
  ['libs/react', '@tanstack/react-query', 'refused'],
  ['apps/cli', '@rondo/domain', 'refused'],
  ['apps/cli/src/replay', '@rondo/domain', 'allowed'],
  ['apps/cli/src/replay', '@rondo/persistence', 'refused'],
  ['apps/gateway', '@rondo/llm', 'refused'],
  ['apps/gateway', '@rondo/persistence/testing', 'allowed'],
  ['libs/messaging', '@rondo/persistence', 'refused'],
  ['libs/platform', '@rondo/domain', 'refused'],
  ['libs/domain', '@rondo/platform', 'refused'],
  ['libs/contract', '@rondo/domain', 'refused'],
  ['libs/messaging', '../../persistence/src/index', 'refused'],
  ['apps/gateway', '../../../libs/persistence/src', 'refused'],
  ['apps/gateway', '../../../deploy/local/start.mjs', 'refused'],
  ['apps/bench', '../../../deploy/local/start.mjs', 'allowed'],
  ['libs/domain', 'node:fs', 'refused'],
  ['apps/agent-worker', 'openai', 'refused'],
  ['apps/gateway', 'nats', 'refused'],
  ['apps/gateway', '@prisma/client', 'refused'],
  ['apps/gateway', '@rondo/persistence', 'allowed'],
] as const;

/**
 * Lints each text as if it were its file's content; nothing is written, since a build at the same time would compile it.
 * In a process of its own, because jest cannot import ESLint's configuration. No type is needed for this rule.
 */
const lint = `
  import { ESLint } from 'eslint';
  const eslint = new ESLint({
    ruleFilter: ({ ruleId }) => ruleId === 'no-restricted-imports',
    overrideConfig: { languageOptions: { parserOptions: { project: null } } },
  });
  const broken = [];
  for (const { filePath, text } of JSON.parse(process.argv[1])) {
    const [{ messages }] = await eslint.lintText(text, { filePath });
    broken.push(messages.map(({ ruleId, message }) => ruleId ?? message));
  }
  console.log(JSON.stringify(broken));
`;

describe('imports between projects', () => {
  let broken: string[][];

  beforeAll(() => {
    const texts = planted.map(([project, path]) => ({
      filePath: join(root, project, 'src', project.startsWith('apps/') ? 'main.ts' : 'index.ts'),
      text: `import * as planted from '${path}';\nexport const used = planted;\n`,
    }));
    const argv = ['--input-type=module', '--eval', lint, JSON.stringify(texts)];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: root, encoding: 'utf8' });
    if (status !== 0 || !stdout.startsWith('[')) throw new Error(stdout + stderr);
    broken = JSON.parse(stdout) as typeof broken;
  });

  it.each(planted.map(([project, path, answer], index) => ({ project, path, answer, index })))(
    '$project → $path is $answer',
    ({ answer, index }) => {
      expect(broken[index]).toEqual(answer === 'refused' ? ['no-restricted-imports'] : []);
    },
  );
});
