import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

export type Settings = Readonly<Record<string, string>>;

/** In single quotes, unless the value needs none. */
function quoteValue(value: string): string {
  if (/^[\w./:@+-]*$/.test(value)) return value;
  if (value.includes("'") || value.includes('\n')) throw new Error('A value cannot have quotes or line ends.');
  return `'${value}'`;
}

/** The text of an .env file with these settings. Other lines stay as they are; a commented setting stays a comment. */
export function withSettings(text: string, settings: Settings): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const findName = (line: string) => /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1];
  const kept = lines.filter((line) => !Object.hasOwn(settings, findName(line) ?? ''));
  const written = Object.entries(settings).map(([name, value]) => `${name}=${quoteValue(value)}`);
  return [...kept, ...written, ''].join('\n');
}

/** None where there is no file. */
export const readSettings = (file: string): Settings =>
  existsSync(file) ? { ...(parseEnv(readFileSync(file, 'utf8')) as Settings) } : {}; // only its type allows undefined values

/** Only its owner can read the file. It is replaced whole, so that it is never half written. */
export function writeSettings(file: string, settings: Settings): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const next = `${file}.new`;
  writeFileSync(next, withSettings(before, settings), { mode: 0o600 });
  renameSync(next, file);
}
