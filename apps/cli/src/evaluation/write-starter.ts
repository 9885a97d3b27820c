import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import { starterFiles } from './starter-files';

/** Writes the files of an evaluation into a folder. Replaces none. */
export function writeStarter(given: Given, { terminal }: Context): Promise<Ending> {
  const folder = given.args[0] ?? '.';
  const files = Object.entries(starterFiles).map(([name, text]) => ({ path: join(folder, name), text }));
  const existing = files.filter(({ path }) => existsSync(path));
  if (existing.length > 0) throw new UsageError(`${existing.map(({ path }) => path).join(', ')} exist already.`);
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  }
  if (terminal.isJson) terminal.json({ files: files.map(({ path }) => path) });
  else for (const { path } of files) terminal.line(path);
  terminal.note(`Begin with ${join(folder, 'README.md')}.`);
  return Promise.resolve('ok');
}
