import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountId, environment, runId } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { SandboxFixture } from '../sandboxes/embedded/testing/sandbox-fixture';
import { run } from '../sandboxes/testing/run-command';
import { publicAddresses } from '../testing/test-servers';
import { prepareWorkspace } from './prepare-workspace';
import { GitServer } from './testing/git-server';

const url = 'https://example.com/team/site.git';
const isTaken = (given: object) => environment.safeParse(given).success;

describe('attack: environment of a run', () => {
  let fixture: SandboxFixture;
  let git: GitServer;
  beforeAll(async () => {
    git = await GitServer.open({ 'README.md': 'Hello.\n' });
    const names: Record<string, string[]> = {
      'private.example': ['127.0.0.1'],
      'metadata.example': ['169.254.169.254'],
    };
    fixture = await SandboxFixture.open(
      { egress: { internalHosts: [`127.0.0.1:${git.port}`] } },
      {
        resolve: (host) => Promise.resolve(names[host] ?? []),
        isAllowed: (address) => publicAddresses.includes(address),
      },
    );
  });
  afterAll(async () => {
    await fixture.close();
    await git.close();
  });

  async function begin() {
    const thread = `thr_${newUlid()}`;
    const sandbox = await fixture.sandbox(thread);
    const egress = fixture.provider.toEgress(thread);
    const signal = new AbortController().signal;
    const order = { account: accountId.parse('acc_1'), run: runId.parse('run_1'), egress, signal };
    const prepare = (given: object) => prepareWorkspace(sandbox, environment.parse(given), order);
    return { sandbox, egress, prepare };
  }

  it.each([
    '--upload-pack=touch /tmp/x',
    'file:///etc',
    'ext::sh -c id',
    'ssh://git@example.com/a',
    'git@example.com:a/b',
    'https://user:password@example.com/a',
    "https://example.com/a'; id; '",
    'https://example.com/$(id)',
    'https://example.com/a\nb',
  ])('a repository that is no plain address: %j', (repository) => {
    expect(isTaken({ repository: { url: repository } })).toBe(false);
    expect(isTaken({ repository: { url } })).toBe(true);
  });

  it.each(['--orphan', '-b', 'a..b', 'main@{1}', 'HEAD^', 'a:b', 'a b', "main'", '../main', 'refs/heads/.hidden/../x'])(
    'a ref that is an option or an expression: %j',
    (ref) => {
      expect(isTaken({ repository: { url, ref } })).toBe(false);
      expect(isTaken({ repository: { url, ref: 'release/1.x' } })).toBe(true);
    },
  );

  it.each([
    '-i http://evil.example',
    '-r/etc/passwd',
    'requests==1; rm -rf /',
    'requests==1 --hash=x',
    'x==1\n-i http://e',
  ])('a package of pip that is an option or a command: %j', (name) => {
    expect(isTaken({ packages: { pip: [name] } })).toBe(false);
    expect(isTaken({ packages: { pip: ['requests==2.32.3'] } })).toBe(true);
  });

  it.each([
    ...[
      'x@git+ssh://git@evil.example/x.git',
      'git+ssh://git@evil.example/x@1.0.0',
      'x@file:/etc',
      'file:/workspace@1.0.0',
    ],
    ...['you/x#semver:1.0.0', 'x@1.0.0 --registry=http://evil.example', 'x@$(id)', '--ignore-scripts=false@1.0.0'],
  ])('a package of npm from elsewhere than the registry: %j', (name) => {
    expect(isTaken({ packages: { npm: [name] } })).toBe(false);
    expect(isTaken({ packages: { npm: ['semver@7.6.3'] } })).toBe(true);
  });

  it.each(['bash=5.2-', 'bash=5.2+', '-oDpkg::Pre-Install-Pkgs::=id', '/etc/passwd=1', 'bash=5.2/stable', 'task=1^'])(
    'a package of apt that is an option, a file, or removes another one: %j',
    (name) => {
      expect(isTaken({ packages: { apt: [name] } })).toBe(false);
      expect(isTaken({ packages: { apt: ['g++=4:12.2.0-3'] } })).toBe(true);
    },
  );

  it.each([
    '--privileged',
    '-v /:/host python',
    'python --privileged',
    'http://169.254.169.254/latest',
    '[::1]:5000/python',
  ])('an image that is an option, or an address of something else: %j', (image) => {
    expect(isTaken({ image })).toBe(false);
    expect(isTaken({ image: 'python:3.12' })).toBe(true);
  });

  it('an image that is no plain reference', () => {
    const images = [
      ...[
        '--privileged',
        'a b',
        'a\nb',
        'a@sha256:12',
        'a:b:c',
        '../a',
        '/a',
        'a//b',
        'a/../b',
        'a?platform=x',
        'a&tag=b',
      ],
      ...['UPPER', 'a:', 'http://a/b', '$(id)', 'a%2f..', `a${'/a'.repeat(300)}`],
    ];
    expect(images.filter((image) => isTaken({ image }))).toEqual([]);
    expect(isTaken({ image: `ghcr.io/you/image:1.2@sha256:${'0'.repeat(64)}` })).toBe(true);
  });

  it('packages that are no plain names with a version', () => {
    const lists = {
      pip: [
        ...['--index-url=http://evil.example', '--index-url==1', 'requests', 'requests==2.*', 'requests==2.32.3 --pre'],
        ...['requests==1\n--pre', 'x @ http://evil.example/x.whl', 'git+https://evil.example/x==1', './x==1'],
      ],
      apt: ['curl', '-o=APT::Update::Pre-Invoke::=id', 'curl=1;id', './x.deb=1', 'curl=1 wget=1', 'curl=1\nwget=1'],
      npm: [
        ...['semver', 'semver@latest', 'semver@^7.0.0', '--registry=http://evil.example@1.0.0', '../x@1.0.0'],
        ...['semver@http://evil.example/x.tgz', 'x@npm:evil@1.0.0', 'semver@7.6.3\n', 'you/x@1.0.0'],
      ],
      gem: ['x=1'],
    };
    const taken = Object.entries(lists).flatMap(([kind, names]) =>
      names.filter((name) => isTaken({ packages: { [kind]: [name] } })),
    );
    expect(taken).toEqual([]);
    const plain = {
      apt: ['libc6-dev=2.36-9+deb12u9'],
      pip: ['typing_extensions==4.12.2'],
      npm: ['@you/a.b@1.2.3-rc.1'],
    };
    expect(isTaken({ packages: plain })).toBe(true);
  });

  it.each(['../out', '/etc/passwd', 'a/../../b', 'site/.git/hooks/post-checkout', '.GIT/config', 'a\\b', 'a\u202eb'])(
    'a path that leads out of the workspace, or into the folder of git: %j',
    (path) => {
      expect(isTaken({ files: [{ path, content: '' }] })).toBe(false);
      expect(isTaken({ repository: { url, path } })).toBe(false);
      expect(isTaken({ files: [{ path: '/workspace/a/b.txt', content: '' }] })).toBe(true);
    },
  );

  it.each(['http://127.0.0.1:1/a', 'http://private.example/a', 'http://metadata.example/latest'])(
    'a repository at an address that is not public: %s',
    async (repository) => {
      const { prepare } = await begin();

      await expect(prepare({ repository: { url: repository } })).rejects.toThrow('cannot be reached');
    },
  );

  it('a list of hosts that names more than the deployment allows', async () => {
    const { sandbox, egress } = await begin();
    egress.limitTo(['private.example', 'metadata.example', '127.0.0.1']);

    const tried = await run(
      sandbox,
      'for host in private.example metadata.example 127.0.0.1:1; do curl -sS -m 5 http://$host/; done',
    );
    expect(tried.output.match(/not a public address|not reached|private|refused/gi)?.length).toBeGreaterThanOrEqual(3);
  });

  it('a link in a repository that leads a file of the environment out of the workspace', async () => {
    const { prepare, sandbox } = await begin();
    const ofHost = mkdtempSync(join(tmpdir(), 'of-the-host-'));
    await run(sandbox, `mkdir site && ln -s ${ofHost} site/out && ln -s /etc site/etc`);

    await prepare({ files: [{ path: 'site/out/planted', content: 'x' }] }).catch(() => undefined);
    await expect(prepare({ files: [{ path: 'site/etc/planted', content: 'x' }] })).rejects.toThrow(
      'The file site/etc/planted of the environment is not in the workspace',
    );
    expect(readdirSync(ofHost)).toEqual([]);
    rmSync(ofHost, { recursive: true });
  });

  it('a folder of its own draft that an earlier run has left as a link', async () => {
    const { prepare, sandbox } = await begin();
    await run(sandbox, 'mkdir kept && touch kept/mine && ln -s /workspace/kept .rondo-clone');

    await prepare({ repository: { url: git.url } });
    expect((await run(sandbox, 'ls kept site')).output).toMatch(/mine[^]*README\.md/);
  });
});
