import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../..');
const boundary = '@nx/enforce-module-boundaries';
const owner = 'no-restricted-imports';

/** A project, an import added to one of its files, and the rule that must refuse it. */
const planted = [
  ['apps/tool-executor', '@rondo/persistence', boundary],
  ['apps/tool-executor', '@rondo/llm', boundary],
  ['apps/gateway', '@rondo/llm', boundary],
  ['libs/messaging', '@rondo/persistence', boundary],
  ['libs/platform', '@rondo/domain', boundary],
  ['libs/domain', '@rondo/platform', boundary],
  ['libs/domain', 'node:fs', owner],
  ['apps/agent-worker', 'openai', owner],
  ['apps/gateway', 'nats', owner],
  ['apps/gateway', '@prisma/client', owner],
  ['apps/gateway', '@rondo/persistence', undefined],
] as const;

/**
 * Lints each text as if it were its file's content. Nothing is written, since a build at the same time would compile it.
 * In a process of its own, because jest cannot import ESLint's configuration.
 */
const lint = `
  import { ESLint } from 'eslint';
  const eslint = new ESLint();
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
    const { stdout, stderr } = spawnSync(process.execPath, argv, { cwd: root, encoding: 'utf8' });
    if (!stdout) throw new Error(stderr);
    broken = JSON.parse(stdout) as typeof broken;
  });

  it.each(planted.map(([project, path, rule], index) => ({ project, path, rule, index })))(
    '$project → $path: $rule',
    ({ rule, index }) => {
      if (rule) expect(broken[index]).toContain(rule);
      else expect(broken[index]).toEqual([]);
    },
  );
});
