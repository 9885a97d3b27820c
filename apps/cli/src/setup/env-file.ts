import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

export type Settings = Readonly<Record<string, string>>;

/** Double quotes come last, because Node reads `\n` between them as a line end. */
const quotes = ["'", '`', '"'];

/** In quotes that the value does not have, unless it needs none. */
function quoteValue(name: string, value: string): string {
  if (/^[\w./:@+-]*$/.test(value)) return value;
  const quote = quotes.find((one) => !value.includes(one));
  if (quote === undefined || value.includes('\n') || (quote === '"' && value.includes('\\n')))
    throw new Error(`The value of ${name} cannot have line ends, nor all three kinds of quotes.`);
  return `${quote}${value}${quote}`;
}

/** A comment, a setting whose quoted value may have several lines, or another line; each with its line end. */
const entry = /[^\S\n]*#[^\n]*\n?|[^=\n]*=[^\S\n]*(?:'[^']*'|"[^"]*"|`[^`]*`)[^\n]*\n?|[^\n]+\n?|\n/g;

const findName = (text: string) => /^\s*(?:export\s+)?(\w+)\s*=/.exec(text)?.[1];

/** The text of an .env file with these settings. Everything else stays as it is; a commented setting stays a comment. */
export function withSettings(text: string, settings: Settings): string {
  const kept = (text.match(entry) ?? []).filter((one) => !Object.hasOwn(settings, findName(one) ?? '')).join('');
  const written = Object.entries(settings).map(([name, value]) => `${name}=${quoteValue(name, value)}\n`);
  return [kept, kept === '' || kept.endsWith('\n') ? '' : '\n', ...written].join('');
}

/** Windows' editors begin a file with a mark, which would become a part of the first name. */
const readText = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8').replace(/^\uFEFF/, '') : '');

/** None where there is no file. */
export const readSettings = (file: string): Settings => ({ ...(parseEnv(readText(file)) as Settings) }); // only its type allows undefined values

/** Only its owner can read the file. It is replaced whole, so that it is never half written. */
export function writeSettings(file: string, settings: Settings): void {
  const next = `${file}.new`;
  writeFileSync(next, withSettings(readText(file), settings), { mode: 0o600 });
  renameSync(next, file);
}
