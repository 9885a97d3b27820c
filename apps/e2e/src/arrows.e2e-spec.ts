import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
 * In a process of its own, because jest cannot import ESLint's configuration. The project graph is made first, in a
 * folder of its own: the rule about boundaries reads the cached one again for each text and finds nothing where that is
 * incomplete, and another process of Nx may be replacing the workspace's.
 */
const lint = `
  import { createProjectGraphAsync } from '@nx/devkit';
  import { ESLint } from 'eslint';
  const { nodes } = await createProjectGraphAsync();
  if (!nodes['@rondo/persistence']) throw new Error('No library in the graph: ' + Object.keys(nodes));
  const eslint = new ESLint();
  const broken = [];
  for (const { filePath, text } of JSON.parse(process.argv[1])) {
    const [{ messages }] = await eslint.lintText(text, { filePath });
    broken.push(messages.map(({ ruleId, message }) => ruleId ?? message));
  }
  console.log(JSON.stringify(broken));
`;

describe('imports between projects', () => {
  const graphDir = mkdtempSync(join(tmpdir(), 'rondo-graph-'));
  let broken: string[][];

  beforeAll(() => {
    const texts = planted.map(([project, path]) => ({
      filePath: join(root, project, 'src', project.startsWith('apps/') ? 'main.ts' : 'index.ts'),
      text: `import * as planted from '${path}';\nexport const used = planted;\n`,
    }));
    const argv = ['--input-type=module', '--eval', lint, JSON.stringify(texts)];
    const env = { ...process.env, NX_WORKSPACE_DATA_DIRECTORY: graphDir, NX_DAEMON: 'false' };
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: root, env, encoding: 'utf8' });
    if (status !== 0 || !stdout.startsWith('[')) throw new Error(stdout + stderr);
    broken = JSON.parse(stdout) as typeof broken;
  });
  afterAll(() => rmSync(graphDir, { recursive: true }));

  it.each(planted.map(([project, path, rule], index) => ({ project, path, rule, index })))(
    '$project → $path: $rule',
    ({ rule, index }) => {
      if (rule) expect(broken[index]).toContain(rule);
      else expect(broken[index]).toEqual([]);
    },
  );
});
