import { accountId, runId } from '@rondo/contract';
import { HeldSecrets } from '../secrets/testing/held-secrets';
import { fetchWithSecrets } from './open-headers';

const account = accountId.parse('acc_1');
const run = runId.parse('run_1');
const policy = { value: 'value-9d2f6c18b7', allowed_hosts: ['mcp.example'], methods: ['POST' as const] };

const secrets = new HeldSecrets();
secrets.add(account, 'TOKEN', { ...policy, placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' } });
secrets.add(account, 'KEY', { ...policy, placement: { in: 'header', name: 'X-Key' } });
secrets.add(account, 'PASSWORD', { ...policy, placement: { in: 'basic', username: 'robot' } });
secrets.allow(run, 'TOKEN', 'KEY', 'PASSWORD');

const sent: { url: string; headers: Record<string, string> }[] = [];
beforeEach(() => {
  sent.length = 0;
  secrets.uses.length = 0;
  secrets.refuse('TOKEN', undefined);
});

const fetch = fetchWithSecrets(
  (url, init) => {
    sent.push({ url: String(url), headers: Object.fromEntries(new Headers(init?.headers)) });
    return Promise.resolve(new Response(null, { status: 202 }));
  },
  () => ({ account, run, call: null }),
  secrets.source,
);
const post = (headers: Record<string, string>, url = 'https://mcp.example/mcp?a=b') =>
  fetch(url, { method: 'POST', headers });

describe('a placeholder in a header of an MCP server', () => {
  it('becomes the value for each request, which is recorded', async () => {
    await post({ Authorization: '${secret.TOKEN}', 'X-Key': 'v1 ${secret.KEY}', 'X-Other': 'plain' });
    await post({ Authorization: 'Basic ${secret.PASSWORD}' });

    const basic = `Basic ${Buffer.from(`robot:${policy.value}`).toString('base64')}`;
    expect(sent.map(({ headers }) => headers)).toEqual([
      { authorization: `Bearer ${policy.value}`, 'x-key': `v1 ${policy.value}`, 'x-other': 'plain' },
      { authorization: basic },
    ]);
    expect(secrets.uses.map(({ name, path, status }) => [name, path, status])).toEqual([
      ['TOKEN', '/mcp', 202],
      ['KEY', '/mcp', 202],
      ['PASSWORD', '/mcp', 202],
    ]);
  });

  it('is refused from the next request on when the secret is revoked, and nothing is sent', async () => {
    await post({ Authorization: '${secret.TOKEN}' });
    secrets.refuse('TOKEN', 'revoked');

    await expect(post({ Authorization: '${secret.TOKEN}' })).rejects.toThrow('The secret TOKEN does not exist');
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['another host', () => post({ Authorization: '${secret.TOKEN}' }, 'https://evil.example/')],
    ['plain HTTP', () => post({ Authorization: '${secret.TOKEN}' }, 'http://mcp.example/')],
    ['another header', () => post({ 'X-Key': '${secret.TOKEN}' })],
    [
      'a method that it may not be used with',
      () => fetch('https://mcp.example/', { headers: { 'X-Key': '${secret.KEY}' } }),
    ],
    ['a secret that there is not', () => post({ Authorization: '${secret.GONE}' })],
  ])('does not become the value for %s', async (_, request) => {
    await expect(request()).rejects.toThrow(/^The secret /);
    expect(sent).toEqual([]);
  });
});
