import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { facadeCoverage } from '@rondo/contract/api';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { FacadeDeployment, runNode } from './facade-deployment';

const deployment = FacadeDeployment.forSuite();

const cli = join(repoRoot, 'apps/cli/bin/rondo.mjs');

describe.each(Object.keys(facadeCoverage))('the program for the façade %s', (name) => {
  it('is the beginning of its page', async () => {
    const page = readFileSync(join(repoRoot, `docs/facades/${name}.md`), 'utf8');
    const [, first] = /^```\w+\n(.*?)^```$/ms.exec(page) ?? [];
    expect(first).toBe(await runNode([cli, 'facade', name, '--no-key'], {}));
  });

  it('is printed with the URL and the key filled in, and works as it is', async () => {
    const { url, key } = deployment.client;
    const printed = await runNode([cli, 'facade', name], { RONDO_URL: url, RONDO_API_KEY: key });
    expect(printed).not.toContain('process.env');
    expect((await runNode(['--input-type=module', '--eval', printed], {})).length).toBeGreaterThan(20);
    const { data } = await deployment.client.json<{ data: { status: string }[] }>('GET', '/runs?limit=1');
    expect(data[0]?.status).toBe('completed');
  });
});
