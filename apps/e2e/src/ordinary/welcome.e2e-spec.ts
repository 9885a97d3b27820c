import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RondoClient } from '@rondo/test-deployment';
import { welcome } from '../../../../deploy/local/services/welcome.mjs';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

describe('what npm start prints when all is ready', () => {
  let client: RondoClient;
  let dataDir: string;
  beforeAll(async () => {
    client = await newAccount(await ordinaryDeployment());
    dataDir = mkdtempSync(join(tmpdir(), 'welcome-'));
  });
  afterAll(() => rmSync(dataDir, { recursive: true }));

  const print = (adminKey: string) =>
    welcome({ url: client.url, adminKey, dataDir, wantsDemoRuns: false, seconds: 3.21 });

  it('signs a browser in, and shows the key and what to try with it', async () => {
    const text = await print(client.key);

    expect(text).toContain('ready after 3.2 s');
    expect(text).toMatch(/Console {2}http\S+ {3}\(signs one browser in, once\)/);
    expect(text).toContain(`API key  ${client.key}   (kept in .data/api-key)\n`);
    expect(text).toContain(`'Authorization: Bearer ${client.key}'`);
  });

  it('says that the key was revoked and what to do, instead of showing it', async () => {
    const added = await client.json<{ id: string; key: string }>('POST', '/api-keys', {
      name: 'first',
      scopes: ['admin'],
    });
    await client.request('DELETE', `/api-keys/${added.id}`);

    const text = await print(added.key);

    expect(text).toContain(`Console  ${client.url}/console/\n`);
    expect(text).toContain('API key  the one in .data/api-key was revoked.');
    expect(text).not.toContain(added.key);
    expect(text).not.toContain('curl');
  });
});
