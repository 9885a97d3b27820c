import { execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateFor } from '../../testing/certificates';
import { TestServers, publicAddresses } from '../../testing/test-servers';
import { run } from '../testing/run-command';
import { engineUnderTest } from '../docker/testing/docker-fixture';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';
import type { Sandbox } from '../provider/sandbox';

/** Names as an attacker's name server would answer. */
const names: Record<string, string[]> = {
  'public.example': ['127.0.0.2'],
  'six.example': ['::1'],
  'private.example': ['127.0.0.1'],
  'mixed.example': ['127.0.0.2', '10.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'azure.example': ['168.63.129.16'],
  'denied.example': ['203.0.113.5'],
};
const rebinding: string[][] = [];
const egress = {
  resolve: async (host: string) => (host === 'rebind.example' ? rebinding.shift() : names[host]) ?? [],
  isAllowed: (address: string) => publicAddresses.includes(address),
};
/** Answers with its own name, or redirects to the path's target. */
const hello: RequestListener = (request, response) => {
  const location = new URL(request.url ?? '', 'http://any').searchParams.get('to');
  if (location === null) response.end(`target ${request.headers.host}\n`);
  else response.writeHead(302, { location }).end();
};

describe('attack: sandbox network', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  let four: TestServers;
  let six: TestServers;

  beforeAll(async () => {
    four = await TestServers.open(hello);
    six = await TestServers.open(hello, { at: '::1' });
    fixture = await SandboxFixture.open(engineUnderTest, egress);
    sandbox = await fixture.sandbox();
  });
  afterAll(async () => {
    await fixture.close();
    await four.close();
    await six.close();
  });
  beforeEach(() => [four, six].forEach(({ canary, target }) => [canary, target].forEach((seen) => (seen.length = 0))));

  const curl = async (options: string) => (await run(sandbox, `curl -sS -g -m 5 ${options}`)).output;

  it.each(['', '-p'])('a request to a public host that ends at the loopback of the machine (curl %s)', async (how) => {
    expect(await curl(`${how} http://public.example:${four.port}/`)).toBe(`target public.example:${four.port}\n`);
    expect(await curl(`${how} http://127.0.0.2:${four.port}/`)).toBe(`target 127.0.0.2:${four.port}\n`);
    expect({ target: four.target, canary: four.canary }).toEqual({ target: ['127.0.0.2', '127.0.0.2'], canary: [] });
  });

  it.each(['', '-p'])('the same by version 6 (curl %s)', async (how) => {
    expect(await curl(`${how} http://six.example:${six.port}/`)).toBe(`target six.example:${six.port}\n`);
    expect(await curl(`${how} --noproxy "" "http://[::1]:${six.port}/"`)).toBe(`target [::1]:${six.port}\n`);
    expect({ target: six.target, canary: six.canary }).toEqual({ target: ['::1', '::1'], canary: [] });
  });

  it.each(['', '-p'])('a name that resolves to another address the second time (curl %s)', async (how) => {
    rebinding.push(['127.0.0.2'], ['127.0.0.1']);
    const url = `http://rebind.example:${four.port}/`;

    expect(await curl(`${how} ${url}`)).toBe(`target rebind.example:${four.port}\n`);
    expect(await curl(`${how} ${url}`)).toMatch(/not a public address|response 403/);
    expect({ target: four.target, canary: four.canary, left: rebinding }).toEqual({
      ...{ target: ['127.0.0.2'], canary: [], left: [] },
    });
  });

  it.each(['', '-p'])('a redirect to the loopback (curl %s)', async (how) => {
    const url = `http://public.example:${four.port}/?to=http://private.example:${four.port}/`;

    expect(await curl(`${how} -L ${url}`)).toMatch(/not a public address|response 403/);
    expect({ target: four.target, canary: four.canary }).toEqual({ target: ['127.0.0.2'], canary: [] });
  });
});

/** The policy of production. These servers listen everywhere, so that each attack would find one if it got out. */
describe('attack: sandbox network', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  let service: Server;
  let port: number;
  const reached: string[] = [];

  beforeAll(async () => {
    service = createServer((socket) => reached.push(String(socket.localAddress)) && socket.end());
    service.listen(0, '::');
    await once(service, 'listening');
    port = (service.address() as { port: number }).port; // It listens on TCP.
    const resolve = async (host: string) => names[host] ?? [];
    fixture = await SandboxFixture.open(
      { ...engineUnderTest, egress: { deniedNetworks: ['203.0.113.0/24'] } },
      { resolve },
    );
    sandbox = await fixture.sandbox();
  });
  afterAll(async () => {
    await fixture.close();
    service.close();
  });
  afterEach(() => expect(reached).toEqual([]));

  /** Speaks to the proxy itself, as no honest client would; answers with all that comes back. */
  const speak = async (text: string) => {
    const program = `require('net').connect(3128, '127.0.0.1', function () { this.write(process.argv[1]); }).pipe(process.stdout)`;
    return (await run(sandbox, `timeout 5 node -e "${program}" $'${text.replaceAll('\r\n', '\\r\\n')}'`)).output;
  };
  const connect = (authority: string) => speak(`CONNECT ${authority} HTTP/1.1\r\nhost: x\r\n\r\n`);
  const get = (url: string) => speak(`GET ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);

  const addresses: [name: string, host: string][] = [
    ['the loopback', '127.0.0.1'],
    ['another loopback address', '127.8.8.8'],
    ['the loopback in short', '127.1'],
    ['the loopback in decimal', '2130706433'],
    ['the loopback in octal', '0177.0.0.1'],
    ['the loopback in hexadecimal', '0x7f000001'],
    ['the unspecified address', '0.0.0.0'],
    ['the loopback of version 6', '[::1]'],
    ['the unspecified address of version 6', '[::]'],
    ['the loopback mapped to version 6', '[::ffff:127.0.0.1]'],
    ['the same in hexadecimal', '[::ffff:7f00:1]'],
    ['the loopback behind NAT64', '[64:ff9b::127.0.0.1]'],
    ['the loopback by 6to4', '[2002:7f00:1::1]'],
    ['cloud metadata', '169.254.169.254'],
    ['cloud metadata mapped to version 6', '[::ffff:169.254.169.254]'],
    ['Azure’s wire server', '168.63.129.16'],
    ['a denied network', '203.0.113.99'],
    ['localhost', 'localhost'],
    ['a name for a private address', 'private.example'],
    ['a name with a private address among public ones', 'mixed.example'],
    ['a name for cloud metadata', 'metadata.example'],
    ['a name for Azure’s wire server', 'azure.example'],
    ['a name in a denied network', 'denied.example'],
    ['digits of another script', '%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1'],
    ['a name with credentials', 'public.example@127.0.0.1'],
    ['a name and a password', 'public.example:80@127.0.0.1'],
    ...Object.entries(networkInterfaces()).flatMap(([name, entries]) =>
      (entries ?? [])
        .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
        .map(({ address, family }): [string, string] => [
          `the host’s own ${family} address on ${name}`,
          family === 'IPv6' ? `[${address}]` : address,
        ]),
    ),
  ];

  it.each(addresses)('a CONNECT to %s', async (_, host) => {
    expect(await connect(`${host}:${port}`)).toMatch(/^HTTP\/1.1 403 Forbidden\r\n[^]* is not a public address/);
  });

  it.each(addresses)('a plain request to %s', async (_, host) => {
    expect(await get(`http://${host}:${port}/`)).toMatch(/^HTTP\/1.1 403 Forbidden\r\n[^]* is not a public address/);
  });

  it.each([
    ['Redis', 6379],
    ['NATS', 4222],
    ['Postgres', 5432],
  ])('a CONNECT to the port of %s on the host', async (_, port) => {
    for (const host of ['127.0.0.1', '[::1]', 'localhost', 'private.example']) {
      expect(await connect(`${host}:${port}`)).toMatch(/^HTTP\/1.1 403 /);
    }
  });

  it.each([
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'https://127.0.0.1/',
    '/',
    '*',
  ])('a request to the proxy for %s', async (url) => {
    expect(await get(url)).toMatch(/^HTTP\/1.1 403 /);
  });

  it('a thousand requests that are sent without waiting for an answer', async () => {
    const one = `GET http://private.example:${port}/ HTTP/1.1\r\nhost: x\r\n\r\n`;
    expect((await speak(one.repeat(1_000))).match(/HTTP\/1.1/g)).toHaveLength(1);
  });
});

describe('HTTPS out of a sandbox', () => {
  const tls = certificateFor('public.example');
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  let server: TestServers;
  let repositories: string;
  let origin: string;

  beforeAll(async () => {
    repositories = gitRepository();
    const files: RequestListener = (request, response) =>
      createReadStream(join(repositories, new URL(request.url ?? '', 'http://x').pathname))
        .on('error', () => response.writeHead(404).end())
        .pipe(response);
    server = await TestServers.open(files, { tls });
    origin = `https://public.example:${server.port}`;
    fixture = await SandboxFixture.open(engineUnderTest, egress);
    sandbox = await fixture.sandbox();
    await run(sandbox, `cat >ca.pem <<'END'\n${tls.ca}\nEND`);
  });
  afterAll(async () => {
    await fixture.close();
    await server.close();
    rmSync(repositories, { recursive: true });
  });
  afterEach(() => expect(server.canary).toEqual([]));

  it('works for git clone', async () => {
    const { output, exitCode } = await run(
      sandbox,
      `GIT_SSL_CAINFO=$PWD/ca.pem git clone -q ${origin}/project.git cloned && cat cloned/README`,
    );

    expect({ output, exitCode }).toEqual({ output: 'hello from the repository\n', exitCode: 0 });
  });

  it('lets programs download as package managers do, authenticated end to end', async () => {
    const fetched = await run(sandbox, `curl -sS -m 10 --cacert ca.pem ${origin}/package | sha256sum`);
    expect(fetched.output).toBe((await run(sandbox, 'head -c 3000000 /dev/zero | sha256sum')).output);

    const untrusted = await run(sandbox, `curl -sS -m 10 ${origin}/package`);
    expect(untrusted).toMatchObject({ exitCode: 60, output: expect.stringContaining('certificate') });
  });
});

/** A folder with a repository that git can clone from any server of files, and a package. */
function gitRepository(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rondo-git-'));
  const script = `
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
    export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
    git init -q work && cd work && echo hello from the repository >README && git add README && git commit -q -m first
    cd .. && git clone -q --bare work project.git && git -C project.git update-server-info
    head -c 3000000 /dev/zero >package`;
  execFileSync('bash', ['-ec', script], { cwd: directory });
  return directory;
}
