import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

/** The pages pick values out of answers with it. */
export const hasJq = spawnSync('jq', ['--version']).status === 0;

const program = join(repoRoot, 'apps/cli/bin/rondo.mjs');

/** A command that gets an error for an answer fails, and with it the script. */
const prelude = `set -euo pipefail; curl() { command curl --fail-with-body "$@"; }; rondo() { node '${program}' "$@"; }`;

interface Setting {
  /** The URL of the gateway, in the place of that of `npm start`. */
  readonly url: string;
  /** The directory in which the reader of the page works. */
  readonly cwd: string;
  /** The variables that the page leaves to its reader. */
  readonly env: Readonly<Record<string, string>>;
}

/** Executes all shell commands of `docs/<page>.md`, in order and as one script. Rejects with its output if one fails. */
export async function runDocumented(page: string, { url, cwd, env }: Setting): Promise<string> {
  const document = readFileSync(join(repoRoot, `docs/${page}.md`), 'utf8');
  const commands = [...document.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  if (commands.length === 0) throw new Error(`docs/${page}.md has no commands`);
  const script = [prelude, ...commands].join('\n').replaceAll(/(localhost|127\.0\.0\.1):3000/g, new URL(url).host);
  const shell = spawn('bash', ['-c', script], { cwd, env: { PATH: process.env['PATH'], ...env } });
  shell.stdin.end();
  const [printed, errors, code] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    new Promise((resolve) => shell.on('exit', resolve)),
  ]);
  if (code !== 0) throw new Error(`docs/${page}.md ended with code ${String(code)}:\n${printed}\n${errors}`);
  return printed;
}
