import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands, loadRouteCommands } from './command-table';
import { toDocument, toHelp, helpOfAll, listCommands } from './help-text';
import { resourceCommands } from './resources/resource-table';

describe('the help', () => {
  it('is what npm run docs writes into docs/cli.md', async () => {
    const written = readFileSync(join(__dirname, '../../../docs/cli.md'), 'utf8');
    expect(written).toBe(toDocument(commands, await loadRouteCommands()));
  });

  it('names each command, and of each command its options', () => {
    for (const command of commands) {
      expect(helpOfAll(commands)).toContain(`\n  ${command.name}`);
      for (const { name } of command.options ?? []) expect(toHelp(command)).toContain(`--${name}`);
    }
  });

  it('names the commands that are made from routes by their resources', () => {
    expect(helpOfAll(commands, resourceCommands)).toMatch(/\n {2}projects +ls, get, create, update, delete\n/);
  });

  it('fits into 120 columns', async () => {
    const all = [...commands, ...(await loadRouteCommands())];
    const lines = [helpOfAll(commands, resourceCommands), listCommands(all), ...all.map(toHelp)].flatMap((text) =>
      text.split('\n'),
    );
    expect(lines.filter((line) => line.length > 120 && line.startsWith('  '))).toEqual([]);
  });

  it('gives each command a name of its own', () => {
    const names = [...commands, ...resourceCommands].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
