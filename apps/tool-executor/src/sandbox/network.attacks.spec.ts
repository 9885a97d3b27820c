import { execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateFor } from '../testing/certificates';
import { Neighbours, publicAddresses } from '../testing/neighbours';
import { run, SandboxHouse } from './testing/sandbox-house';
import type { Sandbox } from './sandbox';

/** Names as an attacker's name server would answer. */
const names: Record<string, string[]> = {
  'public.example': ['127.0.0.2'],
  'six.example': ['::1'],
  'rebind.example': ['127.0.0.1'],
};
const egress = {
  resolve: async (host: string) => names[host] ?? [],
  isAllowed: (address: string) => publicAddresses.includes(address),
};
const hello: RequestListener = (request, response) => response.end(`target ${request.headers.host}\n`);

describe('attack: sandbox network', () => {
  let house: SandboxHouse;
  let sandbox: Sandbox;
  let four: Neighbours;
  let six: Neighbours;

  beforeAll(async () => {
    four = await Neighbours.open(hello);
    six = await Neighbours.open(hello, { at: '::1' });
    house = await SandboxHouse.open({}, egress);
    sandbox = await house.sandbox();
  });
  afterAll(async () => {
    await house.close();
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
});

describe('HTTPS out of a sandbox', () => {
  const tls = certificateFor('public.example');
  let house: SandboxHouse;
  let sandbox: Sandbox;
  let server: Neighbours;
  let repositories: string;
  let origin: string;

  beforeAll(async () => {
    repositories = gitRepository();
    const files: RequestListener = (request, response) =>
      createReadStream(join(repositories, new URL(request.url ?? '', 'http://x').pathname))
        .on('error', () => response.writeHead(404).end())
        .pipe(response);
    server = await Neighbours.open(files, { tls });
    origin = `https://public.example:${server.port}`;
    house = await SandboxHouse.open({}, egress);
    sandbox = await house.sandbox();
    await run(sandbox, `cat >ca.pem <<'END'\n${tls.ca}\nEND`);
  });
  afterAll(async () => {
    await house.close();
    await server.close();
    rmSync(repositories, { recursive: true });
  });
  afterEach(() => expect(server.canary).toEqual([]));

  it('lets git clone', async () => {
    const { output, exitCode } = await run(
      sandbox,
      `GIT_SSL_CAINFO=$PWD/ca.pem git clone -q ${origin}/project.git cloned && cat cloned/README`,
    );

    expect({ output, exitCode }).toEqual({ output: 'hello from the repository\n', exitCode: 0 });
  });

  it('lets programs fetch as package managers do, whole and authenticated end to end', async () => {
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
