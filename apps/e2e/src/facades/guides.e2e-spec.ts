import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { facadeCoverage } from '@rondo/contract/api';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { FacadeDeployment } from './facade-deployment';

const deployment = FacadeDeployment.forSuite();

/** What a program printed. Rejects with all of it where it ended with an error. */
async function run(words: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, words, { cwd: repoRoot, env: { PATH: process.env['PATH'], ...env } });
  child.stdin.end();
  const code = new Promise((resolve) => child.on('close', resolve));
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await code) !== 0) throw new Error(`it ended with ${String(await code)}:\n${printed}\n${errors}`);
  return printed;
}

const cli = join(repoRoot, 'apps/cli/bin/rondo.mjs');

describe.each(Object.keys(facadeCoverage))('the program for the façade %s', (name) => {
  it('is the beginning of its page', async () => {
    const page = readFileSync(join(repoRoot, `docs/facades/${name}.md`), 'utf8');
    const [, first] = /^```\w+\n(.*?)^```$/ms.exec(page) ?? [];
    expect(first).toBe(await run([cli, 'facade', name, '--no-key'], {}));
  });

  it('is printed with the URL and the key filled in, and works as it is', async () => {
    const { url, key } = deployment.client;
    const printed = await run([cli, 'facade', name], { RONDO_URL: url, RONDO_API_KEY: key });
    expect(printed).not.toContain('process.env');
    expect((await run(['--input-type=module', '--eval', printed], {})).length).toBeGreaterThan(20);
    const { data } = await deployment.client.json<{ data: { status: string }[] }>('GET', '/runs?limit=1');
    expect(data[0]?.status).toBe('completed');
  });
});
