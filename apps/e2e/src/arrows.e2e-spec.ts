import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../..');
const boundary = '@nx/enforce-module-boundaries';
const owner = 'no-restricted-imports';

/** An import in a room, and the rule that must object to it. */
const plants = [
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

const fileOf = (index: number) => join(root, plants[index]?.[0] ?? '', 'src', `planted-violation-${index}.ts`);

describe('the arrows of the house', () => {
  let report: { filePath: string; messages: { ruleId: string }[] }[];

  beforeAll(() => {
    plants.forEach(([, path], index) => {
      writeFileSync(fileOf(index), `import * as planted from '${path}';\nexport const used = planted;\n`);
    });
    const files = plants.map((_, index) => fileOf(index));
    const eslint = join(root, 'node_modules/eslint/bin/eslint.js');
    const { stdout } = spawnSync(process.execPath, [eslint, '--format', 'json', ...files], {
      cwd: root,
      encoding: 'utf8',
    });
    report = JSON.parse(stdout) as typeof report;
  });

  afterAll(() => plants.forEach((_, index) => rmSync(fileOf(index))));

  it.each(plants.map(([room, path, rule], index) => ({ room, path, rule, index })))(
    '$room → $path: $rule',
    ({ rule, index }) => {
      const broken = report.find(({ filePath }) => filePath === fileOf(index))?.messages.map(({ ruleId }) => ruleId);

      if (rule) expect(broken).toContain(rule);
      else expect(broken).toEqual([]);
    },
  );
});
