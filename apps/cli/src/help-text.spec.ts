import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from './command-table';
import { documentOf, helpOf, helpOfAll } from './help-text';

describe('the help', () => {
  it('is what npm run docs writes into docs/cli.md', () => {
    expect(readFileSync(join(__dirname, '../../../docs/cli.md'), 'utf8')).toBe(documentOf(commands));
  });

  it('names each command, and of each command its options', () => {
    for (const command of commands) {
      expect(helpOfAll(commands)).toContain(`\n  ${command.name}`);
      for (const { name } of command.options ?? []) expect(helpOf(command)).toContain(`--${name}`);
    }
  });

  it('fits into 120 columns', () => {
    const lines = [helpOfAll(commands), ...commands.map(helpOf)].flatMap((text) => text.split('\n'));
    expect(lines.filter((line) => line.length > 120 && line.startsWith('  '))).toEqual([]);
  });

  it('gives each command a name of its own', () => {
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  });
});
