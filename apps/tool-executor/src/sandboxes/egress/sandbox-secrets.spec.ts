import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { accountId, runId } from '@rondo/contract';
import { AskedSecrets } from '../../secrets/secret-source';
import { HeldSecrets } from '../../secrets/testing/held-secrets';
import { certificateFor } from '../../testing/certificates';
import { TestServers, publicAddresses } from '../../testing/test-servers';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';
import type { Sandbox } from '../provider/sandbox';
import { run } from '../testing/run-command';
import { SandboxSecrets } from './sandbox-secrets';

const account = accountId.parse('acc_1');
const ownRun = runId.parse('run_own');
const value = 'value-9d2f6c18b7';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('secrets in a sandbox', () => {
  const tls = certificateFor('api.example', 'other.example');
  const secrets = new HeldSecrets();
  const seen: Seen[] = [];
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  let secured: TestServers;
  let plain: TestServers;

  /** Writes down what it gets, and answers with it. */
  const echo: RequestListener = (request, response) => {
    const body: Buffer[] = [];
    request.on('data', (bytes: Buffer) => body.push(bytes));
    request.on('end', () => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(body).toString() });
      response.setHeader('X-Seen', headers.authorization ?? 'none');
      response.end(`${headers.authorization ?? 'none'} ${url}\n`);
    });
  };

  beforeAll(async () => {
    secured = await TestServers.open(echo, { tls });
    plain = await TestServers.open(echo);
    fixture = await SandboxFixture.open(
      {},
      {
        resolve: () => Promise.resolve(['127.0.0.2']),
        isAllowed: (address) => publicAddresses.includes(address),
        secretSource: secrets.source,
        hostAuthority: tls.ca,
      },
    );
    sandbox = await fixture.sandbox('thr_own');
    const hosts = [`api.example:${secured.port}`, `http://api.example:${plain.port}`];
    const common = { value, allowed_hosts: hosts, methods: ['GET' as const, 'POST' as const] };
    secrets.add(account, 'TOKEN', { ...common, placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' } });
    secrets.add(account, 'KEY', { ...common, placement: { in: 'query', name: 'key' } });
    secrets.add(account, 'PASSWORD', { ...common, placement: { in: 'basic', username: 'robot' } });
    secrets.allow(ownRun, 'TOKEN', 'KEY', 'PASSWORD');
    await fixture.provider.toEgress('thr_own').secrets?.grant({ account, run: ownRun, call: null });
  });
  afterAll(async () => {
    await fixture.close();
    await secured.close();
    await plain.close();
  });
  beforeEach(() => {
    seen.length = 0;
    secrets.uses.length = 0;
  });

  const inRun = async (command: string) => (await run(sandbox, command, { run: ownRun })).output;
  const url = (path = '/') => `https://api.example:${secured.port}${path}`;

  it('are placeholders in the environment of commands, and the value arrives at the host over TLS', async () => {
    const output = await inRun(`echo "$TOKEN"; curl -sS -m 10 -H "Authorization: Bearer $TOKEN" ${url('/a?b=c')}`);

    expect(output).toMatch(/^rondo_secret_[0-9a-f]{40}\nBearer \*+ \/a\?b=c\n$/);
    expect(seen).toMatchObject([{ method: 'GET', url: '/a?b=c', headers: { authorization: `Bearer ${value}` } }]);
    expect(secrets.uses).toEqual([
      { name: 'TOKEN', host: 'api.example', method: 'GET', path: '/a', refusal: null, status: 200 },
    ]);
  });

  it('arrive over plain HTTP, where the secret names that', async () => {
    await inRun(`curl -sS -m 10 -H "Authorization: Bearer $TOKEN" -d body http://api.example:${plain.port}/`);

    expect(seen).toMatchObject([{ method: 'POST', body: 'body', headers: { authorization: `Bearer ${value}` } }]);
  });

  it('arrive as a parameter of the query, and as a password', async () => {
    await inRun(`curl -sS -m 10 "${url('/?x=1')}&key=$KEY"; curl -sS -m 10 -u "any:$PASSWORD" ${url('/')}`);

    const credentials = Buffer.from(`robot:${value}`).toString('base64');
    expect(seen).toMatchObject([
      { url: `/?x=1&key=${value}` },
      { url: '/', headers: { authorization: `Basic ${credentials}` } },
    ]);
  });

  it.each([
    [
      'Node',
      `node -e 'const https = require("node:https"); const net = require("node:net"); const tls = require("node:tls");
      const proxy = new URL(process.env.HTTPS_PROXY); const to = new URL(process.argv[1]);
      const socket = net.connect(proxy.port, proxy.hostname, () => socket.write("CONNECT " + to.host + " HTTP/1.1\\r\\n\\r\\n"));
      socket.once("data", () => https.get(to, { createConnection: () => tls.connect({ socket, servername: to.hostname }),
        headers: { authorization: "Bearer " + process.env.TOKEN } }, (answer) => answer.pipe(process.stdout)));'`,
    ],
    [
      'Python',
      `python3 -c 'import os, sys, urllib.request as r
print(r.urlopen(r.Request(sys.argv[1], headers={"Authorization": "Bearer " + os.environ["TOKEN"]})).read().decode())'`,
    ],
    ['wget', `wget -q -O - --ca-certificate=$SSL_CERT_FILE --header "Authorization: Bearer $TOKEN"`],
    ['curl over one connection for two requests', 'curl -sS -H "Authorization: Bearer $TOKEN" $URL'],
  ])('work with %s', async (_, program) => {
    const output = await inRun(`URL=${url('/')}; ${program} ${url('/')}`);

    expect(output).toContain('Bearer ****');
    expect(seen.map(({ headers }) => headers.authorization)).toContain(`Bearer ${value}`);
  });

  it('work with git, npm and pip', async () => {
    const output = await inRun(`
      git -c http.extraHeader="Authorization: Bearer $TOKEN" ls-remote ${url('/repository.git')} 2>&1 | tail -1
      npm view --registry=${url('/')} --//api.example:${secured.port}/:_authToken=$TOKEN --fetch-retries=0 some-package 2>&1 | grep -c . 
      command -v pip >/dev/null && pip download --no-input --retries 0 -i https://any:$PASSWORD@api.example:${secured.port}/simple some-package 2>&1 | tail -1`);

    expect(seen.map(({ url: path, headers }) => [path, headers.authorization])).toEqual(
      expect.arrayContaining([
        ['/repository.git/info/refs?service=git-upload-pack', `Bearer ${value}`],
        ['/some-package', `Bearer ${value}`],
      ]),
    );
    expect(output).not.toContain(value);
  });

  it('are looked into only for their hosts: other hosts are reached as they are', async () => {
    await run(sandbox, `cat >ca.pem <<'END'\n${tls.ca}\nEND`);
    const other = `https://other.example:${secured.port}/`;
    const output = await inRun(`curl -sS -m 10 --cacert ca.pem -H "Authorization: Bearer $TOKEN" ${other}`);

    expect(output).toMatch(/^Bearer rondo_secret_/);
    expect(await inRun(`curl -sS -m 10 --cacert ca.pem ${url()} 2>&1 || true`)).toContain('certificate');
    expect(secrets.uses).toEqual([]);
  });

  it('are not in commands of other runs, nor in the session after the command', async () => {
    await inRun('true');
    const { output } = await run(sandbox, 'env; echo; echo $HTTPS_PROXY');

    expect(output).not.toMatch(/rondo_secret_|TOKEN|SSL_CERT_FILE/);
    expect(output.trim().split('\n').at(-1)).toBe('http://127.0.0.1:3128');
  });

  it('leave a request without a placeholder as it is', async () => {
    const output = await inRun(`curl -sS -m 10 -X DELETE -H 'X-One: 1' -H 'X-One: 2' ${url('/plain')}`);

    expect(output).toBe('none /plain\n');
    expect(seen).toMatchObject([{ method: 'DELETE', headers: { 'x-one': '1, 2' } }]);
    expect(secrets.uses).toEqual([]);
  });

  it.each(['approve', 'deny'] as const)('wait with their request until a person decides: %s', async (decision) => {
    secrets.requireApproval('TOKEN');
    const output = inRun(`curl -sS -m 10 -H "Authorization: Bearer $TOKEN" ${url()}`);
    await secrets.asked('TOKEN');
    expect(seen).toEqual([]);
    secrets.decide('TOKEN', decision);

    expect(await output).toMatch(
      decision === 'approve' ? /^Bearer \*+ \/\n$/ : /may not be used by this run: a person denied it/,
    );
    expect(seen).toHaveLength(decision === 'approve' ? 1 : 0);
    secrets.refuse('TOKEN', undefined);
  });

  it('are refused where no person decides in time, and may be tried again', async () => {
    secrets.requireApproval('TOKEN');
    const command = `curl -sS -m 10 -w '%{http_code}' -H "Authorization: Bearer $TOKEN" ${url()}`;
    expect(await inRun(command)).toMatch(/A person has to allow .* TOKEN .* Try again later\.\n403$/);
    expect(seen).toEqual([]);
    secrets.decide('TOKEN', 'approve');

    expect(await inRun(command)).toMatch(/^Bearer \*+ \/\n200$/);
  });

  it('say why they are refused', async () => {
    const deleting = await inRun(`curl -sS -m 10 -X DELETE -H "Authorization: Bearer $TOKEN" ${url()}`);
    const elsewhere = await inRun(`curl -sS -m 10 -H "X-Key: $TOKEN" ${url()}`);

    expect(deleting).toBe('The secret TOKEN may not be used with this method.\n');
    expect(elsewhere).toContain('stands where the secret does not go');
    expect(seen).toEqual([]);
    expect(secrets.uses).toMatchObject([{ method: 'DELETE', refusal: 'method', status: null }]);
  });
});

describe('secrets while no worker answers', () => {
  it('let no command begin, since its requests would be sent without them', async () => {
    const source = new AskedSecrets({ ask: () => Promise.resolve(undefined), box: undefined });
    const silent = new SandboxSecrets('thr_own', { source, key: Buffer.alloc(32) });

    const granted = silent.grant({ account, run: ownRun, call: null });

    await expect(granted).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no worker answers') as string,
    });
  });
});
